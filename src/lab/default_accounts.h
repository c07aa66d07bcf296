// Each namespace has a ServiceAccount `default`, also when somebody took it away.
#pragma once

#include "lab/reconcile_queue.h"

namespace muster::lab {

class DefaultAccounts {
public:
    DefaultAccounts(kube::Transport& transport, LabTimers& timers);

    void start();

private:
    void reconcile(const kube::ObjectName& space);

    kube::Transport& transport_;
    ReconcileQueue queue_;
    kube::Informer spaces_;
    kube::Informer accounts_;
};

}  // namespace muster::lab
