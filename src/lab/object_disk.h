// Objects in a SQLite file: what a lab was when its process was killed is what it is when it comes
// back. Every write is one transaction; the system's own crash may cost the last ones.
#pragma once

#include "lab/object_store.h"

#include <filesystem>
#include <memory>

namespace muster::lab {

Result<std::unique_ptr<Disk>> open_object_disk(const std::filesystem::path& file);

}  // namespace muster::lab
