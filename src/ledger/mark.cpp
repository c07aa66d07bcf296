#include "ledger/mark.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

namespace {

constexpr std::size_t check_bytes = 8;
constexpr std::size_t body_bytes = sizeof(std::uint64_t) + sizeof(Hash);
using Bytes = std::array<std::uint8_t, body_bytes + check_bytes>;

void set_check(Bytes& bytes) {
    const Hash check = hash_of({reinterpret_cast<const char*>(bytes.data()), body_bytes});
    std::copy_n(check.begin(), check_bytes, bytes.begin() + body_bytes);
}

}  // namespace

struct Mark::File {
    std::string name;
    sqlite3_vfs* vfs = nullptr;
    std::vector<std::max_align_t> memory;  // SQLite's file objects have a size known at run time
    bool is_open = false;

    sqlite3_file* get() { return reinterpret_cast<sqlite3_file*>(memory.data()); }

    bool open(int how) {
        if (is_open) { return true; }
        if (vfs == nullptr) { return false; }
        // Named and treated as a journal: it gets the rights of the database.
        const int status =
            vfs->xOpen(vfs, name.c_str(), get(), how | SQLITE_OPEN_MAIN_JOURNAL, nullptr);
        is_open = status == SQLITE_OK;
        return is_open;
    }

    ~File() {
        if (is_open) { get()->pMethods->xClose(get()); }
    }
};

Mark::Mark(const std::string& database_file, const std::string& vfs)
    : file_(std::make_unique<File>()) {
    file_->name = database_file + "-mark";
    file_->vfs = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
    if (file_->vfs == nullptr) { return; }
    const auto size = static_cast<std::size_t>(file_->vfs->szOsFile);
    file_->memory.resize(size / sizeof(std::max_align_t) + 1);
}

Mark::~Mark() = default;
Mark::Mark(Mark&&) noexcept = default;
Mark& Mark::operator=(Mark&&) noexcept = default;

std::optional<Header> Mark::read() {
    Bytes bytes{};
    // Opened anew for writing, should it come to that.
    File file{.name = file_->name, .vfs = file_->vfs, .memory = file_->memory};
    if (!file.open(SQLITE_OPEN_READONLY) ||
        file.get()->pMethods->xRead(file.get(), bytes.data(), bytes.size(), 0) != SQLITE_OK) {
        return std::nullopt;
    }
    Bytes again = bytes;
    set_check(again);
    if (again != bytes) { return std::nullopt; }
    Header header;
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) {
        header.sequence |= std::uint64_t{bytes[i]} << (8 * i);
    }
    std::copy_n(bytes.begin() + sizeof(std::uint64_t), header.hash.size(), header.hash.begin());
    return header;
}

void Mark::write(const Header& last) {
    if (!file_->open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) { return; }
    Bytes bytes{};
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i) {
        bytes[i] = static_cast<std::uint8_t>(last.sequence >> (8 * i));
    }
    std::ranges::copy(last.hash, bytes.begin() + sizeof(std::uint64_t));
    set_check(bytes);
    file_->get()->pMethods->xWrite(file_->get(), bytes.data(), bytes.size(), 0);
}

}  // namespace muster
