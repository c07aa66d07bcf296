// All of a World that decides anything, as text in a fixed order: equal texts, equal decisions
// from here on. Caches (rooms, the journal, compiled classes) are left out. For tests, the
// simulator's laws and replays; not fast.
#pragma once

#include "engine/world.h"

#include <string>

namespace muster {

std::string world_text(const World& world);

}  // namespace muster
