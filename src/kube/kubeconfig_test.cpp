#include "kube/kubeconfig.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

Result<Kubeconfig> read(const std::string& text, const std::string& name = "/srv/ann/config") {
    return read_kubeconfig({name, text});
}
std::string cluster_with(const std::string& fields) {
    return fmt::format("clusters:\n- name: c\n  cluster: {{server: \"https://h\", {}}}\n", fields);
}
std::string user_with(const std::string& fields) {
    return fmt::format("users:\n- name: u\n  user: {{{}}}\n", fields);
}

TEST(Kubeconfig, IsReadAsItIsWritten) {
    const auto config = read(R"(
apiVersion: v1
kind: Config
preferences: {}
current-context: train
clusters:
- name: big
  cluster:
    server: https://api.example:6443/k8s
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes
contexts:
- name: train
  context: {cluster: big, user: ann, namespace: team}
users:
- name: ann
  user: {client-certificate: /etc/ann.crt, client-key-data: S0VZ, as: root, as-groups: [a, b]}
- name: bot
  user: {tokenFile: ../token}
)");

    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->current, "train");
    EXPECT_EQ(config->clusters.at("big").server, "https://api.example:6443/k8s");
    EXPECT_EQ(config->clusters.at("big").authority.file, "/srv/ann/pki/ca.crt");
    EXPECT_EQ(config->clusters.at("big").tls_name, "kubernetes");
    EXPECT_TRUE(config->clusters.at("big").is_verified);
    EXPECT_EQ(config->contexts.at("train").space, "team");
    EXPECT_EQ(config->users.at("ann").certificate.file, "/etc/ann.crt");
    EXPECT_EQ(config->users.at("ann").key.text, "KEY");
    EXPECT_THAT(config->users.at("ann").act_as_groups, ElementsAre("a", "b"));
    EXPECT_EQ(config->users.at("bot").token_file, "/srv/token");
}

TEST(Kubeconfig, HasProgramsThatHandOutCredentials) {
    const auto config = read(user_with(
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/get, args: [-c, x], env: "
        "[{name: A, value: b}], installHint: see x, interactiveMode: IfAvailable, "
        "provideClusterInfo: true}"));
    const auto bare =
        read(user_with("exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}"));

    ASSERT_TRUE(config) << config.error().message;
    const ExecPlugin plugin = *config->users.at("u").exec;
    EXPECT_EQ(plugin.command, "/srv/ann/bin/get");
    EXPECT_THAT(plugin.arguments, ElementsAre("-c", "x"));
    EXPECT_THAT(plugin.variables, ElementsAre(Pair("A", "b")));
    EXPECT_EQ(plugin.hint, "see x");
    EXPECT_TRUE(plugin.knows_cluster);
    ASSERT_TRUE(bare) << bare.error().message;
    EXPECT_EQ(bare->users.at("u").exec->command, "aws");
}

TEST(Kubeconfig, SaysWhatIsWrongAndWhere) {
    const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
    const std::pair<std::string, const char*> cases[] = {
        {"- a", "config"},
        {"clusters: 3", "clusters: found 3, expected a list"},
        {"kind: Pod", "kind: found \"Pod\", expected Config"},
        {"clusters:\n- cluster: {server: x}", "clusters[0].name"},
        {"clusters:\n- name: c\n  cluster: {}", "clusters[0].cluster.server"},
        {"clusters:\n- name: c\n  cluster: {server: \"ftp://h\"}", "expected https://HOST"},
        {cluster_with("proxy-url: \"http://p\""), "clusters[0].cluster.proxy-url: Muster goes to"},
        {cluster_with("certificate-authority-data: \"%\""), "expected base64"},
        {cluster_with("insecure-skip-tls-verify: true, certificate-authority: ca"), "either this"},
        {cluster_with("a: b") + "- name: c\n  cluster: {server: \"https://i\"}\n",
         "config:4: clusters[1].name: a second cluster of that name"},
        {user_with("token: 12345"), "users[0].user.token: expected text"},
        {user_with("token: t, username: u"), "either a token or a user name"},
        {user_with("client-key: k"), "users[0].user.client-certificate: expected both"},
        {user_with("auth-provider: {name: gcp}"), "removed in Kubernetes 1.26"},
        {user_with("as-groups: [a]"), "users[0].user.as: expected a user name"},
        {user_with("as: a, as-user-extra: {x: [y]}"), "as-user-extra: Muster does not"},
        {user_with("exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"),
         "users[0].user.exec.apiVersion: found"},
        {user_with("exec: {" + v1 + ", interactiveMode: Never}"), "exec.command"},
        {user_with("exec: {" + v1 + ", command: x}"), "exec.interactiveMode"},
        {user_with("exec: {" + v1 + ", command: x, interactiveMode: Always}"), "a terminal"},
        {user_with("token: t, exec: {" + v1 + ", command: x, interactiveMode: Never}"),
         "either a program or a token"},
        {"a: b\n---\nc: d", "2 documents"},
    };
    for (const auto& [text, error] : cases) {
        const auto config = read(text);

        ASSERT_FALSE(config) << text;
        EXPECT_THAT(config.error().message, HasSubstr(error)) << text;
        EXPECT_THAT(config.error().message, HasSubstr("/srv/ann/config")) << text;
    }
}

TEST(Kubeconfig, TellsNoSecretInAnError) {
    for (const char* text :
         {"token: 8675309", "token: [tell8675309]", "password: 8675309, username: u",
          "client-key-data: \"8675309%\"", "client-key-data: 8675309"}) {
        const auto config = read(user_with(text));

        ASSERT_FALSE(config) << text;
        EXPECT_THAT(config.error().message, Not(HasSubstr("8675309"))) << text;
    }
    const auto flat = read("users:\n- name: u\n  user: tell8675309");
    ASSERT_FALSE(flat);
    EXPECT_THAT(flat.error().message, Not(HasSubstr("8675309")));
    const auto url = read("clusters:\n- name: c\n  cluster: {server: \"https://u:8675309@h\"}");
    ASSERT_FALSE(url);
    EXPECT_THAT(url.error().message, Not(HasSubstr("8675309")));
}

TEST(Kubeconfig, MergesByTheFirstNameOnly) {
    const std::vector<Kubeconfig> configs{
        *read(cluster_with("tls-server-name: one") + user_with("username: a")),
        *read("current-context: x\n" + cluster_with("tls-server-name: two") +
              user_with("username: b, password: p") +
              "- name: v\n  user: {token: t}\ncontexts:\n- name: x\n  context: {cluster: c}\n"),
        *read("current-context: y\n"),
    };

    const Kubeconfig merged = merge(configs);

    EXPECT_EQ(merged.current, "x");
    EXPECT_EQ(merged.clusters.at("c").tls_name, "one");
    EXPECT_EQ(merged.users.at("u").name, "a");
    EXPECT_EQ(merged.users.at("u").password, "");  // nothing of the second one is mixed in
    EXPECT_EQ(merged.users.at("v").token, "t");
    EXPECT_EQ(merged.contexts.at("x").cluster, "c");
}

TEST(ServerUrl, HasItsParts) {
    struct Case {
        const char* text;
        bool is_tls;
        const char* host;
        std::uint16_t port;
        const char* path;
    };
    const Case cases[] = {
        {"https://api.example", true, "api.example", 443, ""},
        {"http://localhost/", false, "localhost", 80, ""},
        {"https://10.0.0.1:6443/k8s/clusters/c-1/", true, "10.0.0.1", 6443, "/k8s/clusters/c-1"},
        {"https://[::1]", true, "::1", 443, ""},
        {"https://[fd00::1]:8443/x", true, "fd00::1", 8443, "/x"},
    };
    for (const Case& one : cases) {
        const auto url = read_server_url(one.text);

        ASSERT_TRUE(url) << url.error().message;
        EXPECT_EQ(url->is_tls, one.is_tls) << one.text;
        EXPECT_EQ(url->host, one.host);
        EXPECT_EQ(url->port, one.port) << one.text;
        EXPECT_EQ(url->path, one.path) << one.text;
    }
    for (const char* wrong :
         {"", "api", "api:6443", "https://", "https://:6443", "https://h:0", "https://h:65536",
          "https://h:6443x", "https://h?x", "https://h#x", "https://::1", "https://[::1",
          "https://[::1]x", "https://a b", "https://h/a b", "https://u@h"}) {
        EXPECT_FALSE(read_server_url(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace muster::kube
