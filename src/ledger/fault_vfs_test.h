// Tests only: a disk in memory behind SQLite's file layer, which stops at a chosen operation as a
// machine does that loses power, or runs full.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace muster {

enum class DiskFault : std::uint8_t {
    none,
    crash,  // the operation is half done, and all later ones fail
    full    // it and all later ones that need more room fail
};

/// What is left of writes that were not synced.
enum class Left : std::uint8_t { all, none, some };

class FaultDisk {
public:
    explicit FaultDisk(std::string name);
    ~FaultDisk();
    FaultDisk(const FaultDisk&) = delete;
    FaultDisk& operator=(const FaultDisk&) = delete;

    /// For SqliteOptions.
    [[nodiscard]] const std::string& vfs() const { return name_; }
    /// Writes, syncs, truncations and deletions so far.
    [[nodiscard]] std::uint64_t operations() const { return operations_; }

    /// At that operation, counted from 1; a torn write keeps `torn_percent` of its bytes.
    void fail_at(std::uint64_t operation, DiskFault fault, unsigned torn_percent = 0);
    /// After all connections were closed: the machine is on again.
    void restart(Left left, std::uint64_t seed = 0);
    void free_space() { fault_ = DiskFault::none; }

    [[nodiscard]] bool has(const std::string& file) const { return files_.contains(file); }
    [[nodiscard]] std::vector<std::string> files() const;
    std::string& bytes(const std::string& file) { return files_.at(file)->now; }
    /// Puts another disk's files in place of all that is here.
    void copy_from(const FaultDisk& other);

    struct Write {
        std::size_t offset = 0;
        std::string bytes;
        bool is_truncation = false;
    };
    struct File {
        std::string now;
        std::string synced;
        std::vector<Write> pending;
        std::vector<std::unique_ptr<char[]>> shared;                        // of the WAL's index
        std::map<const void*, int> locks;                                   // by handle
        std::map<const void*, std::pair<unsigned, unsigned>> shared_locks;  // shared, exclusive
    };

    // For the file layer.
    enum class Verdict : std::uint8_t { done, full, dead };
    Verdict write(File& file, Write write);
    Verdict sync(File& file);
    Verdict remove(const std::string& name);
    std::shared_ptr<File> open(const std::string& name, bool may_create);
    [[nodiscard]] bool is_dead() const { return is_dead_; }

private:
    std::string name_;
    std::unique_ptr<sqlite3_vfs> vfs_;
    std::map<std::string, std::shared_ptr<File>> files_;
    std::uint64_t operations_ = 0;
    std::uint64_t fault_at_ = 0;
    DiskFault fault_ = DiskFault::none;
    unsigned torn_percent_ = 0;
    bool is_dead_ = false;
};

}  // namespace muster
