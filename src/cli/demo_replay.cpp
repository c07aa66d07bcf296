#include "cli/demo.h"

namespace muster::cli {

void show_replay(Stage& stage) {
    stage.title("A real fleet");
    stage.say("to come");
}

}  // namespace muster::cli
