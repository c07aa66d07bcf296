#include "lab/loopback.h"

#include <utility>

namespace muster::lab {

namespace {

class Loopback final : public kube::Transport {
public:
    Loopback(Api& api, Later later, std::string name)
        : api_(api),
          later_(std::move(later)),
          name_(std::move(name)) {}

    void call(kube::Call call, Done done) override {
        later_(0, [this, alive = std::weak_ptr<int>(alive_), call = std::move(call),
                   done = std::move(done)]() mutable {
            if (alive.expired()) { return; }
            net::HttpResponse response = api_.handle(std::move(call), name_);
            done(kube::Answer{.status = response.status, .body = std::move(response.body)});
        });
    }

    std::unique_ptr<Stream> stream(kube::Call call, std::function<void(std::string_view)> line,
                                   Done done) override {
        auto drawn = std::make_shared<Drawn>(later_, std::move(line), std::move(done));
        later_(0, [this, alive = std::weak_ptr<int>(alive_), call = std::move(call),
                   weak = std::weak_ptr<Drawn>(drawn)] {
            const auto strong = weak.lock();
            if (alive.expired() || strong == nullptr) { return; }
            strong->begin(api_.handle(std::move(call), name_), strong);
        });
        return std::make_unique<Held>(std::move(drawn));
    }

    void after(std::int64_t milliseconds, std::function<void()> work) override {
        later_(milliseconds, std::move(work));
    }

private:
    /// A watch whose lines are taken from its body as they come.
    struct Drawn {
        Drawn(Later its_later, std::function<void(std::string_view)> its_line, Done its_done)
            : later(std::move(its_later)),
              line(std::move(its_line)),
              done(std::move(its_done)) {}

        void begin(net::HttpResponse response, const std::shared_ptr<Drawn>& self) {
            if (response.stream == nullptr) {
                return done(
                    kube::Answer{.status = response.status, .body = std::move(response.body)});
            }
            body = std::move(response.stream);
            body->on_more([weak = std::weak_ptr<Drawn>(self)] {
                const auto strong = weak.lock();
                if (strong == nullptr || std::exchange(strong->is_drawing, true)) { return; }
                strong->later(0, [weak] {
                    if (const auto still = weak.lock()) { still->draw(still); }
                });
            });
            draw(self);
        }

        void draw(const std::shared_ptr<Drawn>& self) {
            is_drawing = false;
            if (body == nullptr) { return; }
            for (;;) {
                const auto piece = body->next();
                if (!piece) {
                    body.reset();
                    return done(kube::Answer{.status = 200, .body = {}});
                }
                if (piece->empty()) { return; }
                std::string_view rest = *piece;
                for (std::size_t end = rest.find('\n'); end != std::string_view::npos;
                     end = rest.find('\n')) {
                    line(rest.substr(0, end));
                    if (self.use_count() == 1 || body == nullptr) { return; }  // it was ended
                    rest.remove_prefix(end + 1);
                }
            }
        }

        Later later;
        std::function<void(std::string_view)> line;
        Done done;
        std::unique_ptr<net::HttpBody> body;
        bool is_drawing = false;
    };

    struct Held final : Stream {
        explicit Held(std::shared_ptr<Drawn> inner) : drawn(std::move(inner)) {}
        std::shared_ptr<Drawn> drawn;
    };

    Api& api_;
    Later later_;
    std::string name_;
    std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace

std::unique_ptr<kube::Transport> connect_loopback(Api& api, Later later, std::string name) {
    return std::make_unique<Loopback>(api, std::move(later), std::move(name));
}

std::unique_ptr<kube::Transport> connect_loopback(Api& api, net::EventLoop& loop,
                                                  std::string name) {
    Later later = [&loop](std::int64_t wait, std::function<void()> work) {
        if (wait == 0) { return loop.post(std::move(work)); }
        loop.after(wait, std::move(work));
    };
    return connect_loopback(api, std::move(later), std::move(name));
}

}  // namespace muster::lab
