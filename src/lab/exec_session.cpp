#include "lab/exec_session.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <utility>

namespace muster::lab {

namespace json = boost::json;

namespace {

// The first byte of each message.
constexpr char input_channel = 0;
constexpr char output_channel = 1;
constexpr char error_channel = 2;
constexpr char status_channel = 3;
constexpr char size_channel = 4;                 // of the terminal
constexpr char end_of = static_cast<char>(255);  // of the channel in the next byte; since version 5

constexpr std::size_t message_bytes_max = std::size_t{32} << 10;
constexpr char end_of_text = 4;  // Control-D at a terminal

// kubectl complains of a connection that closes before it has said what it says on its own: what it
// reads, or how large its terminal is. It gets that long for it; nobody has to say anything.
constexpr std::int64_t hearing_ms = 200;

std::string status_text(int code) {
    if (code == 0) { return R"({"metadata":{},"status":"Success"})"; }
    return json::serialize(json::object{
        {"metadata", json::object()},
        {"status", "Failure"},
        {"message",
         fmt::format("command terminated with non-zero exit code: exit status {}", code)},
        {"reason", "NonZeroExitCode"},
        {"details",
         {{"causes", json::array{json::object{{"reason", "ExitCode"},
                                              {"message", std::to_string(code)}}}}}}});
}

/// A terminal wants the carriage taken back.
std::string at_terminal(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') { out += '\r'; }
        out += c;
    }
    return out;
}

class ExecSession final : public net::WebSocketTalk {
public:
    ExecSession(ShellOutput shell, ExecOptions options)
        : shell_(std::move(shell)),
          options_(options) {}

    Said begin() override {
        Said said;
        if (options_.is_terminal) {  // which has one way out
            say(said, output_channel, at_terminal(shell_.out + shell_.err));
        } else {
            if (options_.has_output) { say(said, output_channel, shell_.out); }
            if (options_.has_errors) { say(said, error_channel, shell_.err); }
        }
        if (!options_.has_input && !options_.is_terminal) {
            end(said);
        } else if (!copies()) {
            said.again_ms = hearing_ms;
        }
        return said;
    }

    Said hear(std::string_view message) override {
        Said said;
        const char channel = message.empty() ? end_of : message[0];
        if (channel == size_channel && options_.is_terminal && !copies()) {
            end(said);
        } else if (message.size() == 2 && channel == end_of && message[1] == input_channel) {
            end(said);
        } else if (message.size() > 1 && channel == input_channel && copies()) {
            copy(said, message.substr(1));
        }
        return said;
    }

    Said go_on() override {
        Said said;
        end(said);
        return said;
    }

private:
    [[nodiscard]] bool copies() const { return shell_.copies_input && options_.has_input; }

    void copy(Said& said, std::string_view text) const {
        const std::size_t last = options_.is_terminal ? text.find(end_of_text) : text.npos;
        const std::string_view heard = text.substr(0, last);
        if (options_.has_output) {
            say(said, output_channel,
                options_.is_terminal ? at_terminal(heard) : std::string(heard));
        }
        if (last != std::string_view::npos) { end(said); }
    }

    static void say(Said& said, char channel, std::string_view text) {
        while (!text.empty()) {
            const std::string_view part = text.substr(0, message_bytes_max);
            said.messages.push_back(channel + std::string(part));
            text.remove_prefix(part.size());
        }
    }

    void end(Said& said) const {
        say(said, status_channel, status_text(shell_.code));
        said.is_last = true;
    }

    ShellOutput shell_;
    ExecOptions options_;
};

}  // namespace

std::unique_ptr<net::WebSocketTalk> make_exec_session(ShellOutput output, ExecOptions options) {
    return std::make_unique<ExecSession>(std::move(output), options);
}

}  // namespace muster::lab
