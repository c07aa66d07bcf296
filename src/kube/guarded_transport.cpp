#include "kube/guarded_transport.h"

#include <utility>

namespace muster::kube {

namespace {

class GuardedTransport final : public Transport {
public:
    GuardedTransport(Transport& inner, std::function<bool()> may_write, AnswerCounts& counts)
        : inner_(inner),
          may_write_(std::move(may_write)),
          counts_(counts) {}

    void call(Call call, Done done) override {
        if (call.method == "GET" || may_write_()) {
            return inner_.call(std::move(call), counted(std::move(done)));
        }
        inner_.after(0, [done = std::move(done), alive = std::weak_ptr(alive_)] {
            if (alive.expired()) { return; }
            done(fail(Code::conflict, "this process leads no more"));
        });
    }

    std::unique_ptr<Stream> stream(Call call, std::function<void(std::string_view)> line,
                                   Done done) override {
        return inner_.stream(std::move(call), std::move(line), counted(std::move(done)));
    }

    void after(std::int64_t milliseconds, std::function<void()> work) override {
        inner_.after(milliseconds, [work = std::move(work), alive = std::weak_ptr(alive_)] {
            if (!alive.expired()) { work(); }
        });
    }

private:
    Done counted(Done done) {
        return
            [this, done = std::move(done), alive = std::weak_ptr(alive_)](Result<Answer> answer) {
                if (alive.expired()) { return; }
                ++counts_[answer ? answer->status : 0];
                done(std::move(answer));
            };
    }

    Transport& inner_;
    std::function<bool()> may_write_;
    AnswerCounts& counts_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace

std::unique_ptr<Transport> guard(Transport& inner, std::function<bool()> may_write,
                                 AnswerCounts& counts) {
    return std::make_unique<GuardedTransport>(inner, std::move(may_write), counts);
}

}  // namespace muster::kube
