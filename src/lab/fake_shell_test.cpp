#include "lab/fake_shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::lab {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

ShellPlace place() {
    ShellPlace out;
    out.host = "train-0";
    out.env = {{"RANK", "3"}, {"NAME", "a b"}, {"HOSTS", "x,y"}};
    out.product = "NVIDIA H100 80GB HBM3";
    out.memory_mib = 81'559;
    out.devices = {{.uuid = "GPU-1", .slice = ""}, {.uuid = "MIG-2", .slice = "1g.10gb"}};
    return out;
}

ShellOutput run(std::vector<std::string> command) { return run_fake_command(command, place()); }

ShellOutput script(std::string text) { return run({"sh", "-c", std::move(text)}); }

}  // namespace

TEST(FakeShell, ImitatesAFewCommands) {
    struct Case {
        std::vector<std::string> command;
        std::string_view out;
        int code = 0;
    };
    const std::vector<Case> cases = {
        {{"true"}, "", 0},
        {{"false"}, "", 1},
        {{"sleep", "3600"}, "", 0},
        {{"/bin/hostname"}, "train-0\n", 0},
        {{"echo"}, "\n", 0},
        {{"echo", "a", "b  c", "$RANK"}, "a b  c $RANK\n", 0},
        {{"echo", "-n", "a"}, "a", 0},
        {{"env"}, "HOSTNAME=train-0\nHOSTS=x,y\nNAME=a b\nRANK=3\n", 0},
        {{"printenv", "RANK"}, "3\n", 0},
        {{"printenv", "NOBODY"}, "", 1},
        {{"nvidia-smi", "-L"},
         "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
         "GPU 1: NVIDIA H100 80GB HBM3 MIG 1g.10gb (UUID: MIG-2)\n",
         0},
    };
    for (const Case& one : cases) {
        const ShellOutput found = run(one.command);
        EXPECT_EQ(found.out, one.out) << one.command[0];
        EXPECT_EQ(found.code, one.code) << one.command[0];
        EXPECT_EQ(found.err, "") << one.command[0];
        EXPECT_FALSE(found.copies_input);
    }
}

TEST(FakeShell, ShowsTheDevicesOfTheContainer) {
    const ShellOutput found = run({"nvidia-smi"});
    EXPECT_EQ(found.code, 0);
    EXPECT_THAT(found.out, HasSubstr("NVIDIA H100 80GB HBM3 "));
    EXPECT_THAT(found.out, HasSubstr("81559MiB"));
    EXPECT_THAT(found.out, HasSubstr("MIG 1g.10gb"));

    const std::vector<std::string> command{"nvidia-smi"};
    const ShellOutput none = run_fake_command(command, ShellPlace{});
    EXPECT_EQ(none.code, 6);
    EXPECT_EQ(none.out, "No devices were found\n");
}

TEST(FakeShell, RunsScriptsOfThese) {
    struct Case {
        std::string script;
        std::string_view out;
        int code = 0;
    };
    const std::vector<Case> cases = {
        {"echo one; echo two", "one\ntwo\n", 0},
        {"echo one\n\necho two\n", "one\ntwo\n", 0},
        {"false && echo no || echo yes", "yes\n", 0},
        {"true || echo no", "", 0},
        {"false; echo $?", "1\n", 0},
        {"echo hi; exit 7; echo no", "hi\n", 7},
        {"false; exit", "", 1},
        {"exit x", "", 2},
        {"exec echo a; echo b", "a\n", 0},
        {"echo $RANK ${RANK}x $NOBODY.", "3 3x .\n", 0},
        {"echo \"$NAME\" '$NAME' \\$NAME $ 5$", "a b $NAME $NAME $ 5$\n", 0},
        {"echo $HOSTNAME", "train-0\n", 0},
        {"echo 'a;b' \"c && d\" 'e\"f' \"g'h\"", "a;b c && d e\"f g'h\n", 0},
        {"echo a''b \"\" c", "ab  c\n", 0},
        {"bash -lc 'echo in; exit 3'", "in\n", 3},
        {"", "", 0},
        {" ; ;", "", 0},
    };
    for (const Case& one : cases) {
        const ShellOutput found = script(one.script);
        EXPECT_EQ(found.out, one.out) << one.script;
        EXPECT_EQ(found.code, one.code) << one.script;
    }
}

TEST(FakeShell, SaysThatNothingElseRuns) {
    for (const char* text :
         {"python train.py", "echo a | wc", "echo a > f", "echo `id`", "echo $(id)",
          "echo \"$(id)\"", "(echo a)", "while true; do sleep 1; done", "echo *", "echo 'open",
          "sleep 1 &", "{ echo; }", "cat", "cat /etc/passwd"}) {
        const ShellOutput found = script(text);
        EXPECT_EQ(found.code, 127) << text;
        EXPECT_THAT(found.err, HasSubstr("no container runs here")) << text;
    }
    for (const std::vector<std::string>& command : {std::vector<std::string>{"bash"},
                                                    {"python", "-c", "1"},
                                                    {"cat", "/etc/hosts"},
                                                    {"sh", "-c"}}) {
        EXPECT_EQ(run(command).code, 127) << command[0];
    }
    EXPECT_EQ(run({"nvidia-smi", "--query-gpu=name"}).code, 2);
}

TEST(FakeShell, CopiesWithCat) {
    const ShellOutput found = run({"cat"});
    EXPECT_TRUE(found.copies_input);
    EXPECT_EQ(found.code, 0);
}

TEST(FakeShell, SaysNoMoreThanItsBound) {
    ShellPlace big = place();
    big.env["BIG"] = std::string(shell_output_bytes_max, 'b');
    std::string text = "echo";
    for (int i = 0; i < 1'000; ++i) { text += " $BIG"; }
    text += "; env; echo end";
    const std::vector<std::string> command{"sh", "-c", text};
    EXPECT_THAT(run_fake_command(command, big).out, SizeIs(shell_output_bytes_max));

    std::string deep = "true";
    for (int i = 0; i < 20; ++i) { deep = "sh -c " + deep; }
    EXPECT_EQ(script("sh -c 'sh -c \"echo a\"'").out, "a\n");
    EXPECT_EQ(script(deep).code, 127);
}

}  // namespace muster::lab
