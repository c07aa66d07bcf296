// YAML as kubectl reads it: plain yes, no, on and off are booleans, 0644 is octal, later documents
// follow `---`. Only a plain y or n, which kubectl takes for a boolean too, stays text: as a node's
// name or a label it can mean nothing else. yaml-cpp's events are taken straight, without its node
// tree.
#include "codec/tree.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

namespace muster {

namespace {

constexpr std::string_view core_tag = "tag:yaml.org,2002:";

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_decimal_number(std::string_view text) {
    std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    std::size_t digits = 0;
    const auto skip = [&] {
        for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) { ++digits; }
    };
    skip();
    if (at < text.size() && text[at] == '.') {
        ++at;
        skip();
    }
    if (digits == 0) { return false; }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        if (at < text.size() && (text[at] == '-' || text[at] == '+')) { ++at; }
        digits = 0;
        skip();
        if (digits == 0) { return false; }
    }
    return at == text.size();
}

template <class Number>
bool parse_whole(std::string_view text, Number& value) {
    int base = 10;
    const bool is_negative = text.starts_with('-');
    std::string_view digits = text.substr(is_negative || text.starts_with('+') ? 1 : 0);
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        base = 16;
    } else if (digits.starts_with("0o")) {
        base = 8;
    }
    if (base != 10) {
        digits.remove_prefix(2);
    } else if (digits.size() > 1 && digits[0] == '0') {
        base = 8;
    }
    if (digits.starts_with('-') || digits.starts_with('+')) { return false; }
    const std::string signed_digits = (is_negative ? "-" : "") + std::string(digits);
    const char* end = signed_digits.data() + signed_digits.size();
    const auto [stop, error] = std::from_chars(signed_digits.data(), end, value, base);
    return error == std::errc{} && stop == end;
}

void put_plain(TreeBuilder& builder, const std::string& text, int line) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) { return builder.null(line); }
    if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) {
        return builder.boolean(true, line);
    }
    if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
        return builder.boolean(false, line);
    }
    std::int64_t whole = 0;
    if (parse_whole(text, whole)) { return builder.integer(whole, line); }
    std::uint64_t natural = 0;
    if (parse_whole(text, natural)) { return builder.natural(natural, line); }
    double real = 0;
    if (is_decimal_number(text)) {
        const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
        const auto [stop, error] = std::from_chars(begin, text.data() + text.size(), real);
        if (error == std::errc{} && stop == text.data() + text.size()) {
            return builder.real(real, line);
        }
    }
    builder.string(text, line);
}

class Handler : public YAML::EventHandler {
public:
    TreeBuilder builder{true};

    YAML::Mark start;  // of the document

    void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (is_key(mark)) { return; }
        builder.null(line(mark));
        done(anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        if (is_key(mark)) { return; }
        builder.recall(anchor, line(mark));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (builder.has_failed()) { return; }
        if (builder.wants_key()) {
            if (tag == "?" && value == "<<") { return builder.merge_key(line(mark)); }
            return builder.key(value, line(mark));
        }
        const bool is_core = tag.starts_with(core_tag);
        const std::string_view type = is_core ? std::string_view(tag).substr(core_tag.size()) : "";
        if (tag == "!" || is_one_of(type, {"str", "binary", "timestamp"})) {
            builder.string(value, line(mark));
        } else if (tag == "?" || tag.empty() || is_one_of(type, {"int", "float", "bool", "null"})) {
            put_plain(builder, value, line(mark));
        } else {
            builder.fail_at(line(mark), fmt::format("unknown tag {}", tag));
        }
        done(anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(mark, anchor, false);
    }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        begin(mark, anchor, true);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapEnd() override { end(); }

private:
    std::vector<YAML::anchor_t> open_;  // the anchor of each open list or mapping

    static int line(const YAML::Mark& mark) { return mark.line + 1; }

    bool is_key(const YAML::Mark& mark) {
        if (builder.has_failed()) { return true; }
        if (!builder.wants_key()) { return false; }
        builder.fail_at(line(mark), "found no text as a key, expected text");
        return true;
    }

    void begin(const YAML::Mark& mark, YAML::anchor_t anchor, bool is_object) {
        if (is_key(mark)) { return; }
        builder.begin(is_object, line(mark));
        open_.push_back(anchor);
    }

    void end() {
        if (builder.has_failed()) { return; }
        builder.end();
        const YAML::anchor_t anchor = open_.back();
        open_.pop_back();
        done(anchor);
    }

    void done(YAML::anchor_t anchor) {
        if (anchor != YAML::NullAnchor) { builder.remember(anchor); }
    }
};

}  // namespace

Result<std::vector<TreePtr>> parse_yaml(std::string_view file, const std::string& text) {
    std::vector<TreePtr> documents;
    try {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        for (int last = -1;;) {
            Handler handler;
            if (!parser.HandleNextDocument(handler)) { return documents; }
            // yaml-cpp 0.7 never gets past a stray `,` or `]`: it finds empty documents there for
            // ever.
            if (handler.start.pos <= last) {
                return fail(Code::invalid,
                            fmt::format("{}:{}: not YAML: found no beginning of a value", file,
                                        handler.start.line + 1));
            }
            last = handler.start.pos;
            if (!handler.builder.has_failed() && !handler.builder.has_value()) { continue; }
            MUSTER_TRY(tree, handler.builder.finish(file));
            documents.push_back(std::move(tree));
        }
    } catch (const YAML::Exception& error) {
        return fail(Code::invalid,
                    fmt::format("{}:{}: not YAML: {}", file, error.mark.line + 1, error.msg));
    }
}

}  // namespace muster
