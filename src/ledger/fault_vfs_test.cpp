#include "ledger/fault_vfs_test.h"

#include "base/assert.h"
#include "codec/any_test.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace muster {

namespace {

using File = FaultDisk::File;
using Verdict = FaultDisk::Verdict;

void put(std::string& bytes, const FaultDisk::Write& write) {
    if (write.is_truncation) { return bytes.resize(write.offset); }
    bytes.resize(std::max(bytes.size(), write.offset + write.bytes.size()));
    bytes.replace(write.offset, write.bytes.size(), write.bytes);
}

/// SQLite's file object, made in memory that SQLite provides.
struct Handle {
    sqlite3_file base{};
    FaultDisk* disk = nullptr;
    std::shared_ptr<File> file;
    std::string delete_on_close;
};

Handle& of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
FaultDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<FaultDisk*>(vfs->pAppData); }

int status_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::done: return SQLITE_OK;
        case Verdict::full: return SQLITE_FULL;
        case Verdict::dead: return SQLITE_IOERR;
    }
    return SQLITE_IOERR;
}

int close(sqlite3_file* file) {
    Handle& handle = of(file);
    handle.file->locks.erase(&handle);
    handle.file->shared_locks.erase(&handle);
    if (!handle.delete_on_close.empty()) { handle.disk->remove(handle.delete_on_close); }
    handle.~Handle();
    return SQLITE_OK;
}

int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
    Handle& handle = of(file);
    if (handle.disk->is_dead()) { return SQLITE_IOERR; }
    const std::string& bytes = handle.file->now;
    const auto begin = std::min(static_cast<std::size_t>(offset), bytes.size());
    const auto count = std::min(static_cast<std::size_t>(size), bytes.size() - begin);
    std::memcpy(out, bytes.data() + begin, count);
    std::memset(static_cast<char*>(out) + count, 0, static_cast<std::size_t>(size) - count);
    return count == static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int write(sqlite3_file* file, const void* in, int size, sqlite3_int64 offset) {
    Handle& handle = of(file);
    return status_of(handle.disk->write(
        *handle.file, {.offset = static_cast<std::size_t>(offset),
                       .bytes = {static_cast<const char*>(in), static_cast<std::size_t>(size)}}));
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
    Handle& handle = of(file);
    return status_of(handle.disk->write(
        *handle.file,
        {.offset = static_cast<std::size_t>(size), .bytes = {}, .is_truncation = true}));
}

int sync(sqlite3_file* file, int /*flags*/) {
    return status_of(of(file).disk->sync(*of(file).file));
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
    *size = static_cast<sqlite3_int64>(of(file).file->now.size());
    return SQLITE_OK;
}

int lock(sqlite3_file* file, int level) {
    Handle& handle = of(file);
    int other = SQLITE_LOCK_NONE;
    for (const auto& [holder, held] : handle.file->locks) {
        if (holder != &handle) { other = std::max(other, held); }
    }
    const bool is_free = level == SQLITE_LOCK_SHARED     ? other < SQLITE_LOCK_PENDING
                         : level == SQLITE_LOCK_RESERVED ? other < SQLITE_LOCK_RESERVED
                                                         : other < SQLITE_LOCK_SHARED;
    if (!is_free) { return SQLITE_BUSY; }
    handle.file->locks[&handle] = level;
    return SQLITE_OK;
}

int unlock(sqlite3_file* file, int level) {
    of(file).file->locks[&of(file)] = level;
    return SQLITE_OK;
}

int check_reserved(sqlite3_file* file, int* is_held) {
    *is_held = 0;
    for (const auto& [holder, held] : of(file).file->locks) {
        if (held >= SQLITE_LOCK_RESERVED) { *is_held = 1; }
    }
    return SQLITE_OK;
}

int control(sqlite3_file* /*file*/, int /*what*/, void* /*value*/) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file* /*file*/) { return 4096; }
int traits(sqlite3_file* /*file*/) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int shm_map(sqlite3_file* file, int region, int size, int is_extending, void volatile** out) {
    auto& shared = of(file).file->shared;
    const auto index = static_cast<std::size_t>(region);
    *out = nullptr;
    if (index >= shared.size() && is_extending == 0) { return SQLITE_OK; }
    while (shared.size() <= index) {
        shared.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
    }
    *out = shared[index].get();
    return SQLITE_OK;
}

int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    Handle& handle = of(file);
    const unsigned mask = ((1U << count) - 1) << offset;
    auto& [shared, exclusive] = handle.file->shared_locks[&handle];
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
        shared &= ~mask;
        exclusive &= ~mask;
        return SQLITE_OK;
    }
    const bool is_exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (const auto& [holder, held] : handle.file->shared_locks) {
        if (holder == &handle) { continue; }
        const unsigned against = is_exclusive ? held.first | held.second : held.second;
        if ((against & mask) != 0) { return SQLITE_BUSY; }
    }
    (is_exclusive ? exclusive : shared) |= mask;
    return SQLITE_OK;
}

void shm_barrier(sqlite3_file* /*file*/) {}

int shm_unmap(sqlite3_file* file, int is_deleting) {
    of(file).file->shared_locks.erase(&of(file));
    if (is_deleting != 0) { of(file).file->shared.clear(); }
    return SQLITE_OK;
}

const sqlite3_io_methods methods = {.iVersion = 2,
                                    .xClose = close,
                                    .xRead = read,
                                    .xWrite = write,
                                    .xTruncate = truncate,
                                    .xSync = sync,
                                    .xFileSize = file_size,
                                    .xLock = lock,
                                    .xUnlock = unlock,
                                    .xCheckReservedLock = check_reserved,
                                    .xFileControl = control,
                                    .xSectorSize = sector_size,
                                    .xDeviceCharacteristics = traits,
                                    .xShmMap = shm_map,
                                    .xShmLock = shm_lock,
                                    .xShmBarrier = shm_barrier,
                                    .xShmUnmap = shm_unmap,
                                    .xFetch = nullptr,
                                    .xUnfetch = nullptr};

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* out, int flags, int* out_flags) {
    FaultDisk& disk = disk_of(vfs);
    out->pMethods = nullptr;
    if (disk.is_dead()) { return SQLITE_IOERR; }
    const std::string path = name == nullptr ? "(temporary)" : name;
    auto file = disk.open(path, (flags & SQLITE_OPEN_CREATE) != 0);
    if (!file) { return SQLITE_CANTOPEN; }
    const bool is_temporary = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    new (out) Handle{.base = {.pMethods = &methods},
                     .disk = &disk,
                     .file = std::move(file),
                     .delete_on_close = is_temporary ? path : ""};
    if (out_flags != nullptr) { *out_flags = flags; }
    return SQLITE_OK;
}

int remove(sqlite3_vfs* vfs, const char* name, int /*is_directory_synced*/) {
    return status_of(disk_of(vfs).remove(name));
}

int access(sqlite3_vfs* vfs, const char* name, int /*flags*/, int* is_there) {
    *is_there = disk_of(vfs).has(name) ? 1 : 0;
    return SQLITE_OK;
}

int full_path(sqlite3_vfs* /*vfs*/, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
}

int randomness(sqlite3_vfs* /*vfs*/, int size, char* out) {
    std::memset(out, 7, static_cast<std::size_t>(size));
    return size;
}

int sleep(sqlite3_vfs* /*vfs*/, int microseconds) { return microseconds; }

int time(sqlite3_vfs* /*vfs*/, double* days) {
    *days = 2'460'000;
    return SQLITE_OK;
}

}  // namespace

FaultDisk::FaultDisk(std::string name)
    : name_(std::move(name)),
      vfs_(std::make_unique<sqlite3_vfs>()) {
    *vfs_ = {};
    vfs_->iVersion = 1;
    vfs_->szOsFile = sizeof(Handle);
    vfs_->mxPathname = 256;
    vfs_->zName = name_.c_str();
    vfs_->pAppData = this;
    vfs_->xOpen = muster::open;
    vfs_->xDelete = muster::remove;
    vfs_->xAccess = access;
    vfs_->xFullPathname = full_path;
    vfs_->xRandomness = randomness;
    vfs_->xSleep = sleep;
    vfs_->xCurrentTime = time;
    sqlite3_vfs_register(vfs_.get(), 0);
}

FaultDisk::~FaultDisk() { sqlite3_vfs_unregister(vfs_.get()); }

void FaultDisk::fail_at(std::uint64_t operation, DiskFault fault, unsigned torn_percent) {
    fault_at_ = operation;
    fault_ = fault;
    torn_percent_ = torn_percent;
}

void FaultDisk::restart(Left left, std::uint64_t seed) {
    AnyValue dice(seed);
    for (auto& [name, file] : files_) {
        std::string survived = left == Left::all ? file->now : file->synced;
        if (left == Left::some) {
            for (const Write& write : file->pending) {
                if (dice.below(2) == 0) { put(survived, write); }
            }
        }
        // A new object: a handle of the time before has nothing to say any more.
        auto fresh = std::make_shared<File>();
        fresh->now = fresh->synced = std::move(survived);
        file = std::move(fresh);
    }
    fault_ = DiskFault::none;
    is_dead_ = false;
}

std::vector<std::string> FaultDisk::files() const {
    std::vector<std::string> out;
    for (const auto& [name, file] : files_) { out.push_back(name); }
    return out;
}

void FaultDisk::copy_from(const FaultDisk& other) {
    files_.clear();
    for (const auto& [name, file] : other.files_) {
        auto copy = std::make_shared<File>();
        copy->now = copy->synced = file->now;
        files_[name] = std::move(copy);
    }
}

Verdict FaultDisk::write(File& file, Write write) {
    if (is_dead_) { return Verdict::dead; }
    ++operations_;
    if (fault_ == DiskFault::full && operations_ >= fault_at_ && !write.is_truncation &&
        write.offset + write.bytes.size() > file.now.size()) {
        return Verdict::full;
    }
    const bool is_crash = fault_ == DiskFault::crash && operations_ == fault_at_;
    if (is_crash) {
        is_dead_ = true;
        if (write.is_truncation) { return Verdict::dead; }
        write.bytes.resize(write.bytes.size() * torn_percent_ / 100);
    }
    put(file.now, write);
    file.pending.push_back(std::move(write));
    return is_crash ? Verdict::dead : Verdict::done;
}

Verdict FaultDisk::sync(File& file) {
    if (is_dead_) { return Verdict::dead; }
    ++operations_;
    if (fault_ == DiskFault::crash && operations_ == fault_at_) {
        is_dead_ = true;
        return Verdict::dead;
    }
    file.synced = file.now;
    file.pending.clear();
    return Verdict::done;
}

Verdict FaultDisk::remove(const std::string& name) {
    if (is_dead_) { return Verdict::dead; }
    ++operations_;
    if (fault_ == DiskFault::crash && operations_ == fault_at_) {
        is_dead_ = true;
        return Verdict::dead;
    }
    files_.erase(name);
    return Verdict::done;
}

std::shared_ptr<File> FaultDisk::open(const std::string& name, bool may_create) {
    const auto found = files_.find(name);
    if (found != files_.end()) { return found->second; }
    if (!may_create) { return nullptr; }
    return files_[name] = std::make_shared<File>();
}

}  // namespace muster
