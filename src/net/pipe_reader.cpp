#include "net/pipe_reader.h"

#include "net/event_loop_impl.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <fmt/core.h>

#include <array>
#include <utility>

namespace muster::net {

namespace asio = boost::asio;

struct PipeReader::Impl : std::enable_shared_from_this<PipeReader::Impl> {
    asio::posix::stream_descriptor pipe;
    std::size_t bytes_max;
    Done done;  // none once it was called
    std::string text;
    std::array<char, 16'384> piece{};

    Impl(EventLoop& loop, int descriptor, std::size_t most, Done then)
        : pipe(*loop.impl().context, descriptor),
          bytes_max(most),
          done(std::move(then)) {}

    void read() {
        pipe.async_read_some(
            asio::buffer(piece),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t count) {
                if (self->done == nullptr) { return; }
                self->text.append(self->piece.data(), count);
                if (error == asio::error::eof) { return self->end(std::move(self->text)); }
                if (error) { return self->end(fail(Code::unavailable, error.message())); }
                if (self->text.size() > self->bytes_max) {
                    return self->end(
                        fail(Code::limit, fmt::format("more than {} bytes", self->bytes_max)));
                }
                self->read();
            });
    }

    void end(Result<std::string> outcome) {
        const auto call = std::exchange(done, nullptr);
        call(std::move(outcome));
    }
};

PipeReader::PipeReader(EventLoop& loop, int descriptor, std::size_t bytes_max, Done done)
    : impl_(std::make_shared<Impl>(loop, descriptor, bytes_max, std::move(done))) {
    impl_->read();
}

PipeReader::~PipeReader() {
    impl_->done = nullptr;
    boost::system::error_code ignored;
    impl_->pipe.close(ignored);
}

}  // namespace muster::net
