#include "lab/default_accounts.h"

#include "kube/objects.h"
#include "lab/known_resources.h"

#include <boost/json.hpp>

namespace muster::lab {

namespace json = boost::json;
using kube::ObjectName;
using Change = kube::Informer::Change;

namespace {

constexpr std::int64_t unsynced_wait = 100;  // ours

}  // namespace

DefaultAccounts::DefaultAccounts(kube::Transport& transport, LabTimers& timers)
    : transport_(transport),
      queue_(timers,
             [this, &timers](const ObjectName& space) {
                 if (accounts_.is_synced()) { return reconcile(space); }
                 queue_.add_later(space, unsynced_wait * timers.speed());
             }),
      spaces_(
          transport, known::namespaces,
          [this](Change change, const ObjectName& name, const json::object&, const json::object*) {
              if (change == Change::set) { queue_.add(name); }
          }),
      accounts_(
          transport, known::service_accounts,
          [this](Change change, const ObjectName& name, const json::object&, const json::object*) {
              if (change == Change::gone) { queue_.add({"", name.first}); }
          }) {}

void DefaultAccounts::start() {
    accounts_.start();
    spaces_.start();
}

void DefaultAccounts::reconcile(const ObjectName& space) {
    const json::object* found = spaces_.find(space);
    const std::string& name = space.second;
    if (found == nullptr || kube::is_leaving(*found)) { return; }
    if (accounts_.find({name, "default"}) != nullptr) { return; }
    kube::create_object(transport_, known::service_accounts, name,
                        {{"apiVersion", "v1"},
                         {"kind", "ServiceAccount"},
                         {"metadata", {{"name", "default"}, {"namespace", name}}}});
}

}  // namespace muster::lab
