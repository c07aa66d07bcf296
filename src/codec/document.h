// Text to documents: multi-document YAML or JSON (told by the first non-blank byte), lists
// flattened
// (`kind: List`, `kubectl get … -o json`), each with the place that every value of it came from.
// Nothing here knows what a document means; `field.h` reads values out of one.
#pragma once

#include "base/result.h"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct SourceText {
    std::string name;  // of the file, for messages
    std::string text;
    std::string name_space = "default";  // of objects that name none
};

/// Where something was read: "job.yaml:14: spec.tasks[0].replicas"; JSON has no lines.
struct Place {
    std::string file;
    int line = 0;
    std::string path;

    bool operator==(const Place&) const = default;
    [[nodiscard]] std::string text() const;
};

struct Lines;  // the line of each value, in the shape of the value

/// One object. A view into its Documents.
struct Document {
    std::string_view file;
    std::string_view kind;                    // "Pod"; of an item of a typed list, the list's
    std::string_view api_version;             // "v1"
    std::string_view name_space = "default";  // when the object names none
    const boost::json::value* root = nullptr;
    const Lines* lines = nullptr;  // none for JSON
    std::string prefix;            // "items[3]" for an item of a list

    /// Where `value` stands in this document; `value` belongs to it.
    [[nodiscard]] Place place_of(const boost::json::value& value) const;
};

/// Owns what it read; moving it keeps the views valid.
class Documents {
public:
    Documents();
    ~Documents();
    Documents(Documents&&) noexcept;
    Documents& operator=(Documents&&) noexcept;

    [[nodiscard]] const std::vector<Document>& all() const { return all_; }

    /// Adds the documents of one more text, or nothing.
    Result<> add(const SourceText& source);

private:
    struct Owned;
    std::vector<std::unique_ptr<Owned>> owned_;
    std::vector<Document> all_;
};

Result<Documents> read_documents(std::span<const SourceText> sources);

}  // namespace muster
