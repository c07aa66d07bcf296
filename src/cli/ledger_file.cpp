#include "cli/ledger_file.h"

#include "base/text.h"
#include "etcd/http_gateway.h"
#include "etcd/store_etcd.h"
#include "kube/files.h"
#include "ledger/store_sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <system_error>

namespace muster::cli {

namespace {

/// A reader waits longer than a leader, who has others to hear.
constexpr std::int64_t reader_wait_ms = 15'000;

Result<etcd::TlsTexts> read_tls(const EtcdFiles& files) {
    etcd::TlsTexts out;
    for (const auto& [file, text] :
         {std::pair(&files.authority, &out.authority),
          std::pair(&files.certificate, &out.certificate), std::pair(&files.key, &out.key)}) {
        if (file->empty()) { continue; }
        MUSTER_TRY(read, kube::read_text_file(*file));
        *text = std::move(read);
    }
    return out;
}

Result<etcd::GatewayOptions> gateway_of(const std::string& name, const EtcdFiles& files,
                                        std::int64_t wait_ms) {
    MUSTER_TRY(address, etcd::read_address(name));
    const bool has_files =
        !files.authority.empty() || !files.certificate.empty() || !files.key.empty();
    if (has_files && !address.is_tls) {
        return fail(Code::invalid,
                    fmt::format("{}: is asked without TLS; expected no --etcd-cacert, "
                                "--etcd-cert or --etcd-key, or etcd://",
                                name));
    }
    if (files.certificate.empty() != files.key.empty()) {
        return fail(Code::invalid, "expected --etcd-cert and --etcd-key together");
    }
    if (address.is_tls) { MUSTER_CHECK(read_tls(files)); }  // what is wrong is told at once
    return etcd::GatewayOptions{.address = std::move(address),
                                .read_tls = [files] { return read_tls(files); },
                                .wait_ms = wait_ms};
}

std::string random_text() {
    std::random_device dice;
    return fmt::format("{:08x}{:08x}", dice(), dice());
}

std::unique_ptr<Store> connect(const etcd::GatewayOptions& options) {
    return etcd::open_etcd_store(etcd::connect_gateway(options), {.name = text_of(options.address),
                                                                  .prefix = options.address.prefix,
                                                                  .writer = random_text()});
}

Result<> check_is_file(const std::string& name, const EtcdFiles& files) {
    if (files.authority.empty() && files.certificate.empty() && files.key.empty()) { return {}; }
    return fail(Code::invalid, fmt::format("{}: is a file; expected etcd://HOST:PORT/PREFIX beside "
                                           "--etcd-cacert, --etcd-cert or --etcd-key",
                                           name));
}

/// A file is one and the same in one run of a machine, however it is mounted.
Result<std::string> id_of_file(const std::string& file) {
    MUSTER_CHECK(open_sqlite_store(file));
    struct stat told{};
    if (stat(file.c_str(), &told) != 0) {
        return fail(Code::unavailable, fmt::format("{}: {}", file, std::strerror(errno)));
    }
    MUSTER_TRY(boot, kube::read_text_file("/proc/sys/kernel/random/boot_id"));
    return fmt::format("file {}:{} of boot {}", told.st_dev, told.st_ino, trim(boot));
}

}  // namespace

Result<std::unique_ptr<Store>> open_ledger(const std::string& name, const EtcdFiles& files) {
    if (!etcd::is_address(name)) {
        MUSTER_CHECK(check_is_file(name, files));
        return open_sqlite_store(name, {.access = Access::read});
    }
    MUSTER_TRY(options, gateway_of(name, files, reader_wait_ms));
    std::unique_ptr<Store> store = connect(options);
    MUSTER_TRY(extent, store->extent());
    if (extent.last.sequence == 0) {
        return fail(Code::not_found, fmt::format("{}: there is no ledger", store->name()));
    }
    return store;
}

Result<LedgerToWrite> find_ledger(const std::string& name, const EtcdFiles& files,
                                  std::int64_t wait_ms) {
    if (!etcd::is_address(name)) {
        MUSTER_CHECK(check_is_file(name, files));
        return LedgerToWrite{.open = [name] { return open_sqlite_store(name); },
                             .id = [name] { return id_of_file(name); }};
    }
    MUSTER_TRY(options, gateway_of(name, files, wait_ms));
    return LedgerToWrite{
        .open = [options = options]() -> Result<std::unique_ptr<Store>> {
            return connect(options);
        },
        .id = [options = options]() -> Result<std::string> {
            auto id = etcd::ledger_id(*etcd::connect_gateway(options), options.address.prefix,
                                      random_text());
            if (id) { return id; }
            return tl::unexpected(std::move(id).error().wrap(text_of(options.address)));
        },
        .is_in_etcd = true};
}

Result<> check_recorded(std::string_view policy, const std::string& file) {
    if (file.empty() || policy == "muster") { return {}; }
    return fail(Code::invalid,
                fmt::format("--ledger: found policy '{:.40}'; expected muster, whose decisions are "
                            "recorded",
                            policy));
}

Result<std::unique_ptr<Store>> make_ledger(const std::string& file) {
    if (file.empty()) { return std::unique_ptr<Store>(); }
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        // What a deleted ledger left says nothing of this one.
        for (const char* rest : {"-mark", "-wal", "-shm"}) {
            std::filesystem::remove(file + rest, ignored);
        }
    }
    MUSTER_TRY(store, open_sqlite_store(file, {.is_synced = false, .entries_per_commit = 1'000}));
    MUSTER_TRY(extent, store->extent());
    if (!extent.is_empty()) {
        return fail(Code::invalid,
                    fmt::format("{}: found a ledger of {} entries; expected a new file", file,
                                extent.last.sequence - extent.anchor.sequence));
    }
    return std::move(store);
}

}  // namespace muster::cli
