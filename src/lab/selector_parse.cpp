// Label selectors as text. The grammar is Kubernetes' own, with its corners: `in` and `notin` are
// words in the place of a key or a value, "x in (,a)" has an empty value, "!a=b" makes no sense.
#include "lab/selector_parse.h"

#include "codec/json_writer.h"
#include "lab/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace muster::lab {

namespace {

enum class Token : std::uint8_t {
    end,
    word,
    in,
    not_in,
    bang,
    equals,
    not_equals,
    greater,
    less,
    comma,
    open,
    close
};

struct Lexeme {
    Token token = Token::end;
    std::string_view text;
};

/// Where a bare `in` is a keyword: after a key, and nowhere else.
enum class Place : std::uint8_t { of_value, of_operator };

class Reader {
public:
    explicit Reader(std::string_view text) : rest_(text) {}

    Lexeme peek(Place place = Place::of_value) const {
        Reader copy = *this;
        return copy.take(place);
    }

    Lexeme take(Place place = Place::of_value) {
        rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
        if (rest_.empty()) { return {}; }
        if (rest_.starts_with("==")) { return cut(Token::equals, 2); }
        if (rest_.starts_with("!=")) { return cut(Token::not_equals, 2); }
        switch (rest_.front()) {
            case '=': return cut(Token::equals, 1);
            case '!': return cut(Token::bang, 1);
            case '>': return cut(Token::greater, 1);
            case '<': return cut(Token::less, 1);
            case ',': return cut(Token::comma, 1);
            case '(': return cut(Token::open, 1);
            case ')': return cut(Token::close, 1);
            default: break;
        }
        Lexeme out =
            cut(Token::word, std::min(rest_.find_first_of("=!(),<> \t\r\n"), rest_.size()));
        if (place == Place::of_operator && out.text == "in") { out.token = Token::in; }
        if (place == Place::of_operator && out.text == "notin") { out.token = Token::not_in; }
        return out;
    }

private:
    Lexeme cut(Token token, std::size_t size) {
        const Lexeme out{.token = token, .text = rest_.substr(0, size)};
        rest_.remove_prefix(size);
        return out;
    }

    std::string_view rest_;
};

tl::unexpected<Error> expected(const Lexeme& found, std::string_view what) {
    return fail(Code::invalid, fmt::format("found '{}', expected: {}", found.text, what));
}

/// What stands between the brackets, the opening one taken.
Result<std::vector<std::string>> read_values(Reader& reader) {
    std::vector<std::string> out;
    const Lexeme first = reader.peek();
    if (first.token == Token::close) {
        reader.take();
        return {{std::string()}};  // "x in ()" asks for the empty value
    }
    if (first.token != Token::word && first.token != Token::comma) {
        return expected(first, "',', ')' or identifier");
    }
    bool wants_value = true;  // an empty one, when a comma or the end comes
    for (;;) {
        const Lexeme one = reader.take();
        switch (one.token) {
            case Token::word:
                if (!wants_value) { return expected(one, "',' or ')'"); }
                out.emplace_back(one.text);
                wants_value = false;
                break;
            case Token::comma:
                if (wants_value) { out.emplace_back(); }
                wants_value = true;
                break;
            case Token::close:
                if (wants_value) { out.emplace_back(); }
                std::ranges::sort(out);
                out.erase(std::unique(out.begin(), out.end()), out.end());
                return out;
            case Token::end:
            case Token::in:
            case Token::not_in:
            case Token::bang:
            case Token::equals:
            case Token::not_equals:
            case Token::greater:
            case Token::less:
            case Token::open:
                return expected(one, wants_value ? "',', or identifier" : "',' or ')'");
        }
    }
}

Result<std::vector<std::string>> read_value(Reader& reader) {
    const Lexeme next = reader.peek();
    if (next.token == Token::end || next.token == Token::comma) { return {{std::string()}}; }
    reader.take();
    if (next.token != Token::word) { return expected(next, "identifier"); }
    return {{std::string(next.text)}};
}

Result<Requirement> read_requirement(Reader& reader) {
    Requirement out;
    Lexeme next = reader.take();
    if (next.token == Token::bang) {
        out.op = Requirement::Op::not_exists;
        next = reader.take();
    }
    if (next.token != Token::word) { return expected(next, "identifier"); }
    out.key = next.text;
    if (auto wrong = check_qualified_name(out.key); !wrong.empty()) {
        constexpr std::string_view general = "a qualified name";
        if (wrong.front().starts_with(general)) {
            wrong.front().replace(0, general.size(), "a valid label key");
        }
        return fail(Code::invalid, fmt::format("<nil>: Invalid value: {}: {}", json_text(out.key),
                                               fmt::join(wrong, "; ")));
    }
    const Token after = reader.peek().token;
    if (out.op == Requirement::Op::not_exists) { return out; }
    if (after == Token::end || after == Token::comma) {
        out.op = Requirement::Op::exists;
        return out;
    }
    const Lexeme word = reader.take(Place::of_operator);
    switch (word.token) {
        case Token::in:
        case Token::equals: out.op = Requirement::Op::in; break;
        case Token::not_in:
        case Token::not_equals: out.op = Requirement::Op::not_in; break;
        case Token::greater: out.op = Requirement::Op::greater; break;
        case Token::less: out.op = Requirement::Op::less; break;
        case Token::end:
        case Token::word:
        case Token::bang:
        case Token::comma:
        case Token::open:
        case Token::close: return expected(word, "in, notin, =, ==, !=, gt, lt");
    }
    if (word.token == Token::in || word.token == Token::not_in) {
        if (const Lexeme open = reader.take(); open.token != Token::open) {
            return fail(Code::invalid, fmt::format("found '{}' expected: '('", open.text));
        }
        MUSTER_TRY(values, read_values(reader));
        out.values = std::move(values);
    } else {
        MUSTER_TRY(values, read_value(reader));
        out.values = std::move(values);
    }
    return check_requirement(std::move(out));
}

tl::unexpected<Error> wrong_values(const Requirement& requirement, std::string_view why) {
    std::vector<std::string> quoted;
    for (const std::string& value : requirement.values) { quoted.push_back(json_text(value)); }
    return fail(Code::invalid,
                fmt::format("values: Invalid value: [{}]: {}", fmt::join(quoted, ","), why));
}

}  // namespace

std::optional<std::int64_t> integer_value(std::string_view text) {
    if (text.starts_with('+') && !text.starts_with("+-")) { text.remove_prefix(1); }
    std::int64_t value = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (wrong != std::errc() || end != text.data() + text.size()) { return std::nullopt; }
    return value;
}

Result<Requirement> check_requirement(Requirement requirement) {
    using enum Requirement::Op;
    if (const auto wrong = check_qualified_name(requirement.key); !wrong.empty()) {
        return fail(Code::invalid, fmt::format("key: Invalid value: {}: {}",
                                               json_text(requirement.key), fmt::join(wrong, "; ")));
    }
    switch (requirement.op) {
        case in:
        case not_in:
            if (requirement.values.empty()) {
                return wrong_values(requirement,
                                    "for 'in', 'notin' operators, values set can't be empty");
            }
            break;
        case exists:
        case not_exists:
            if (!requirement.values.empty()) {
                return wrong_values(requirement,
                                    "values set must be empty for exists and does not exist");
            }
            break;
        case greater:
        case less:
            if (requirement.values.size() != 1) {
                return wrong_values(requirement,
                                    "for 'Gt', 'Lt' operators, exactly one value is required");
            }
            if (!integer_value(requirement.values[0])) {
                return fail(Code::invalid,
                            fmt::format("values[0]: Invalid value: {}: for 'Gt', 'Lt' operators, "
                                        "the value must be an integer",
                                        json_text(requirement.values[0])));
            }
            break;
    }
    for (std::size_t i = 0; i < requirement.values.size(); ++i) {
        if (const auto wrong = check_label_value(requirement.values[i]); !wrong.empty()) {
            return fail(Code::invalid,
                        fmt::format("values[{}][{}]: Invalid value: {}: {}", i, requirement.key,
                                    json_text(requirement.values[i]), fmt::join(wrong, "; ")));
        }
    }
    return requirement;
}

Result<Selector> parse_label_selector(std::string_view text) {
    Selector out;
    Reader reader(text);
    if (reader.peek().token == Token::end) { return out; }
    for (;;) {
        const Lexeme next = reader.peek();
        if (next.token != Token::word && next.token != Token::bang) {
            return expected(
                next, out.empty() ? "!, identifier, or 'end of string'" : "identifier after ','");
        }
        auto requirement = read_requirement(reader);
        if (!requirement) {
            return tl::unexpected<Error>(
                std::move(requirement).error().wrap("unable to parse requirement"));
        }
        out.push_back(std::move(*requirement));
        const Lexeme after = reader.take();
        if (after.token == Token::end) { return out; }
        if (after.token != Token::comma) { return expected(after, "',' or 'end of string'"); }
    }
}

}  // namespace muster::lab
