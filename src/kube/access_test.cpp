#include "kube/access.h"

#include "net/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace muster::kube {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A folder with the files that a test writes, and an environment.
class AccessToACluster : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "access-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::string write(const std::string& name, const std::string& text) {
        const auto path = folder / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }
    void write_program(const std::string& name, const std::string& text) {
        std::filesystem::permissions(write(name, "#!/bin/sh\n" + text),
                                     std::filesystem::perms::owner_all);
    }
    AccessRequest request(const std::string& file = "", const std::string& context = "") {
        return {.file = file,
                .context = context,
                .variable =
                    [this](const std::string& name) {
                        const auto found = variables.find(name);
                        return found == variables.end() ? std::nullopt
                                                        : std::optional<std::string>(found->second);
                    },
                .account_folder = (folder / "account").string()};
    }
    static std::string config(const std::string& host, const std::string& user = "token: t") {
        return fmt::format(
            "current-context: a\n"
            "clusters: [{{name: c, cluster: {{server: \"https://{}\"}}}}]\n"
            "users:\n- name: u\n  user: {{{}}}\n"
            "contexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n",
            host, user);
    }
    static std::string error_of(const AccessRequest& asked) {
        const auto access = find_access(asked);
        return access ? "no error" : access.error().message;
    }

    std::filesystem::path folder;
    std::map<std::string, std::string> variables;
};

TEST_F(AccessToACluster, IsTheFileThatIsToldThenTheListThenTheHome) {
    const std::string told = write("told", config("told"));
    const std::string first = write("first", config("first"));
    write("home/.kube/config", config("home"));
    variables["HOME"] = (folder / "home").string();

    const auto home = find_access(request());
    variables["KUBECONFIG"] = (folder / "none").string() + "::" + first;
    const auto listed = find_access(request());
    const auto named = find_access(request(told));

    ASSERT_TRUE(home) << home.error().message;
    EXPECT_EQ(home->address.http.host, "home");
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->address.http.host, "first");
    EXPECT_EQ(listed->space, "default");
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->address.http.host, "told");
}

TEST_F(AccessToACluster, MayBeOfTwoFilesTogether) {
    const std::string clusters = write("clusters",
                                       "clusters: [{name: c, cluster: {server: "
                                       "\"https://h:1/p\", certificate-authority: "
                                       "ca}}]\n");
    write("ca", "CA");
    const std::string contexts =
        write("contexts", "contexts: [{name: a, context: {cluster: c, namespace: team}}]\n");
    variables["KUBECONFIG"] = contexts + ":" + clusters;

    const auto access = find_access(request("", "a"));

    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->address.http.host, "h");
    EXPECT_EQ(access->address.http.port, 1);
    EXPECT_EQ(access->address.path, "/p");
    EXPECT_EQ(access->address.http.authority, "CA");
    EXPECT_EQ(access->space, "team");
}

TEST_F(AccessToACluster, IsThatOfThePodWithoutAFile) {
    write("account/token", "one\n");
    write("account/ca.crt", "CA");
    write("account/namespace", "muster-system");
    variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};

    const auto access = find_access(request());

    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(access->address.http.host, "fd00::1");
    EXPECT_TRUE(access->address.http.is_tls);
    EXPECT_EQ(access->address.http.authority, "CA");
    EXPECT_EQ(access->space, "muster-system");
    EXPECT_EQ(access->address.credentials->now()->authorization, "Bearer one");
}

TEST_F(AccessToACluster, SaysWhatIsMissing) {
    const std::string file = write("config", config("h"));
    const std::string odd =
        write("odd",
              "contexts: [{name: a, context: {cluster: x}}, {name: b, context: {cluster: c, user: "
              "y}}]\nclusters: [{name: c, cluster: {server: \"https://h\"}}]\n");

    EXPECT_THAT(error_of(request()), HasSubstr("no cluster is named"));
    EXPECT_THAT(error_of(request(folder / "none")), HasSubstr("none: No such file"));
    EXPECT_THAT(error_of(request(file, "b")), HasSubstr("no context 'b'; it has a"));
    EXPECT_THAT(error_of(request(odd)), HasSubstr("no current-context"));
    EXPECT_THAT(error_of(request(odd, "a")), HasSubstr("no cluster 'x'; it has c"));
    EXPECT_THAT(error_of(request(odd, "b")), HasSubstr("no user 'y'; it has none"));
}

TEST_F(AccessToACluster, ReadsTokensAgainWhenTheyMayHaveChanged) {
    std::int64_t time = 1'000;
    KubeUser user;
    user.token_file = write("token", "one");
    Credentials credentials({.user = user, .exec_info = {}, .now_ms = [&] { return time; }});

    EXPECT_EQ(credentials.now()->authorization, "Bearer one");
    write("token", "two");
    EXPECT_EQ(credentials.now()->authorization, "Bearer one");
    time += 60'000;
    EXPECT_EQ(credentials.now()->authorization, "Bearer two");
    write("token", "three");
    credentials.note_refused();
    EXPECT_EQ(credentials.now()->authorization, "Bearer three");
    std::filesystem::remove(folder / "token");
    time += 60'000;
    EXPECT_EQ(credentials.now()->authorization, "Bearer three");  // better than none
}

TEST_F(AccessToACluster, SignsWithNameAndPasswordOrInAnothersName) {
    KubeUser user;
    user.name = "ann";
    user.password = "s:t";
    user.act_as = "bob";
    user.act_as_groups = {"g"};
    Credentials credentials({.user = user, .exec_info = {}, .now_ms = [] { return 0; }});

    const auto secret = credentials.now();

    ASSERT_TRUE(secret);
    EXPECT_EQ(secret->authorization, "Basic YW5uOnM6dA==");
    EXPECT_EQ(secret->act_as.size(), 2U);
}

TEST_F(AccessToACluster, RunsAProgramForItsTokenUntilThatExpires) {
    write_program(
        "get",
        "echo x >> \"$(dirname \"$0\")/runs\"\n"
        "case \"$KUBERNETES_EXEC_INFO\" in *'\"interactive\":false'*https://h*) ;; *) exit 3;; "
        "esac\n"
        "cat <<END\n"
        "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
        "\"status\":{\"token\":\"$1-$WHO-$(wc -l < \"$(dirname \"$0\")/runs\" | tr -d ' ')\","
        "\"expirationTimestamp\":\"1970-01-01T01:00:00Z\"}}\n"
        "END\n");
    const auto read = read_kubeconfig(
        {(folder / "config").string(),
         config("h",
                "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get, args: "
                "[tok], env: [{name: WHO, value: ann}], interactiveMode: Never, "
                "provideClusterInfo: true}")});
    ASSERT_TRUE(read) << read.error().message;
    std::int64_t time = 0;
    const KubeUser user = read->users.at("u");
    Credentials credentials({.user = user,
                             .exec_info = exec_info(*user.exec, read->clusters.at("c"), "CA"),
                             .now_ms = [&] { return time; }});

    const auto first = credentials.now();
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->authorization, "Bearer tok-ann-1");
    time = 3'500'000;
    EXPECT_EQ(credentials.now()->authorization, "Bearer tok-ann-1");
    credentials.note_refused();
    EXPECT_EQ(credentials.now()->authorization, "Bearer tok-ann-2");
    credentials.note_refused();  // at once again: it is not run for each request
    EXPECT_EQ(credentials.now()->authorization, "Bearer tok-ann-2");
    time = 3'595'000;  // within ten seconds of its end
    EXPECT_EQ(credentials.now()->authorization, "Bearer tok-ann-3");
}

TEST_F(AccessToACluster, WaitsForNoProgramWhenItIsToldSo) {
    write_program("get",
                  "read word <\"$(dirname \"$0\")/gate\"; echo '{\"kind\": \"ExecCredential\", "
                  "\"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {\"token\": "
                  "\"'\"$word\"'\", \"expirationTimestamp\": \"1970-01-01T01:00:00Z\"}}'");
    ASSERT_EQ(mkfifo((folder / "gate").c_str(), 0600), 0);
    const auto let_through = [&](const std::string& word) {
        std::ofstream(folder / "gate") << word << std::endl;
    };
    std::int64_t time = 0;
    KubeUser user;
    user.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                           .command = (folder / "get").string()};
    Credentials credentials(
        {.user = user, .exec_info = "{}", .now_ms = [&] { return time; }, .is_patient = false});
    const auto wait_for = [&](const std::string& token) {
        for (;;) {
            const auto given = credentials.now();
            if (given && given->authorization == "Bearer " + token) { return; }
            std::this_thread::yield();
        }
    };

    const auto first = credentials.now();
    ASSERT_FALSE(first);
    EXPECT_EQ(first.error().code, Code::unavailable);
    let_through("one");
    wait_for("one");

    time = 3'550'000;  // less than a minute before its end another one is fetched
    EXPECT_EQ(credentials.now()->authorization, "Bearer one");
    time = 3'600'000;
    EXPECT_FALSE(credentials.now()) << "it has expired";
    let_through("two");
}

TEST_F(AccessToACluster, RestsAfterAProgramThatFailed) {
    write_program("get", "echo x >> \"$(dirname \"$0\")/runs\"; exit 1");
    std::int64_t time = 0;
    KubeUser user;
    user.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                           .command = (folder / "get").string()};
    Credentials credentials({.user = user, .exec_info = "{}", .now_ms = [&] { return time; }});

    EXPECT_FALSE(credentials.now());
    EXPECT_FALSE(credentials.now());
    EXPECT_EQ(std::filesystem::file_size(folder / "runs"), 2U);
    time += 10'000;
    EXPECT_FALSE(credentials.now());
    EXPECT_EQ(std::filesystem::file_size(folder / "runs"), 4U);
}

TEST_F(AccessToACluster, SaysWhatIsWrongWithAProgramAndNotWhatItWrote) {
    const auto error_with = [&](const std::string& program, const std::string& command = "./get") {
        write_program("get", program);
        ExecPlugin plugin{.api_version = "client.authentication.k8s.io/v1",
                          .command = command.starts_with('.') ? (folder / "get").string() : command,
                          .arguments = {},
                          .variables = {},
                          .hint = "install it from here"};
        const auto run = run_exec_plugin(plugin, "{}");
        return run ? "no error" : run.error().message;
    };

    EXPECT_THAT(error_with("echo secret; exit 4"),
                AllOf(HasSubstr("ended with code 4"), Not(HasSubstr("secret"))));
    EXPECT_THAT(error_with("echo secret"), AllOf(HasSubstr("no JSON"), Not(HasSubstr("secret"))));
    EXPECT_THAT(error_with("echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"v0\"}'"),
                HasSubstr("no ExecCredential of"));
    EXPECT_THAT(error_with("kill -9 $$"), HasSubstr("ended by signal 9"));
    EXPECT_THAT(error_with("", "no-such-program-of-muster"),
                AllOf(HasSubstr("is not installed"), HasSubstr("install it from here")));
    const auto late = run_program({.words = {"sleep", "600"}, .variables = {}, .timeout_ms = 1});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::timeout);
    const auto long_winded =
        run_program({.words = {"yes"}, .variables = {}, .timeout_ms = 60'000, .bytes_max = 100});
    ASSERT_FALSE(long_winded);
    EXPECT_EQ(long_winded.error().code, Code::limit);
}

TEST_F(AccessToACluster, GoesOverHttpWithPathAndToken) {
    net::EventLoop loop;
    std::string heard;
    auto server = net::HttpServer::listen(loop, {}, [&](const net::HttpRequest& request) {
        heard = fmt::format("{} {}", request.target, request.header("Authorization"));
        net::HttpResponse out{.status = 429, .headers = {{"Retry-After", "7"}}, .body = "{}"};
        return out;
    });
    ASSERT_TRUE(server);
    const std::string file =
        write("config",
              fmt::format("current-context: a\nclusters: [{{name: c, cluster: {{server: "
                          "\"http://localhost:{}/prefix/\"}}}}]\nusers: [{{name: u, user: {{token: "
                          "t}}}}]\ncontexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n",
                          server->port()));
    const auto access = find_access(request(file));
    ASSERT_TRUE(access) << access.error().message;
    const auto transport = connect_http(loop, access->address);
    Result<Answer> answer = fail(Code::timeout, "not called");

    transport->call({.method = "GET", .target = "/api/v1/nodes"}, [&](Result<Answer> given) {
        answer = std::move(given);
        loop.stop();
    });
    loop.run_for(20'000);

    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(heard, "/prefix/api/v1/nodes Bearer t");
    EXPECT_EQ(answer->status, 429);
    EXPECT_EQ(answer->retry_after_ms, 7'000);
}

}  // namespace
}  // namespace muster::kube
