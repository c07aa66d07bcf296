// What is wrong with an object, one fault after the other, in the words of Kubernetes.
#pragma once

#include "lab/api_error.h"

#include <boost/json/fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::lab {

class Causes {
public:
    void required(std::string field, std::string_view why = "");
    void wrong(std::string field, const boost::json::value& value, std::string_view why);
    /// One fault for each of the reasons.
    void wrong(const std::string& field, const boost::json::value& value,
               const std::vector<std::string>& reasons);
    void unsupported(std::string field, const boost::json::value& value,
                     std::span<const std::string_view> supported);
    void forbidden(std::string field, std::string_view why);
    void duplicate(std::string field, const boost::json::value& value);
    void not_found(std::string field, const boost::json::value& value, std::string_view why = "");
    void too_long(std::string field, std::size_t bytes_max);

    void add(std::vector<ApiCause> more);
    [[nodiscard]] bool empty() const { return all_.empty(); }
    std::vector<ApiCause> take() { return std::move(all_); }

private:
    std::vector<ApiCause> all_;
};

}  // namespace muster::lab
