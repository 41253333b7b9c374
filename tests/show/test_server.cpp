// What the viewer's server answers, and what it refuses.
#include "pliant/core/error.hpp"
#include "pliant/show/server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace pliant;

namespace {

class FixedSource final : public ViewSource {
public:
    nlohmann::json description() override { return {{"title", "fixed"}}; }
    std::string topology() override { return "topology"; }
    std::string frame(Index number) override
    {
        if (number != 7) throw Error("there is no such frame");
        return "seven";
    }
    std::string stats(std::size_t first_row) override { return "row " + std::to_string(first_row); }
    bool control(const std::string& action) override { return action == "play"; }
};

struct Answer {
    int status = 0;
    std::string text; ///< head and body
};

class Server : public testing::Test {
protected:
    std::string own_host() const { return "127.0.0.1:" + std::to_string(server_.port()); }

    /// The bytes go out as they are: no client tidies the path up.
    Answer ask(const std::string& head, const std::string& host, int port = 0) const
    {
        const int file = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_port = htons(static_cast<std::uint16_t>(port == 0 ? server_.port() : port));
        inet_pton(AF_INET, "127.0.0.1", &place.sin_addr);
        Answer answer;
        EXPECT_EQ(::connect(file, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
        const std::string text = head + "\r\nHost: " + host + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        EXPECT_EQ(::send(file, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
        char part[4096];
        for (ssize_t n; (n = ::recv(file, part, sizeof part, 0)) > 0;) answer.text.append(part, std::size_t(n));
        ::close(file);
        if (answer.text.size() > 12) answer.status = std::atoi(answer.text.c_str() + 9);
        return answer;
    }
    Answer get(const std::string& path) const { return ask("GET " + path + " HTTP/1.1", own_host()); }

    FixedSource source_;
    ViewServer server_{source_, {}};
};

} // namespace

TEST_F(Server, AnswersWhatItsSourceHas)
{
    EXPECT_NE(get("/api/run").text.find("fixed"), std::string::npos);
    EXPECT_NE(get("/api/topology").text.find("topology"), std::string::npos);
    EXPECT_NE(get("/api/frame/7").text.find("seven"), std::string::npos);
    EXPECT_NE(get("/api/stats?from=12").text.find("row 12"), std::string::npos);
    EXPECT_EQ(ask("POST /api/control/play HTTP/1.1", own_host()).status, 200);
    EXPECT_EQ(ask("POST /api/control/explode HTTP/1.1", own_host()).status, 404);
}

TEST_F(Server, SendsThePageWhenTheBuildHasIt)
{
    const int expected = viewer_assets().empty() ? 404 : 200;
    EXPECT_EQ(get("/").status, expected);
    EXPECT_EQ(get("/viewer.js").status, expected);
    EXPECT_EQ(get("/viewerxjs").status, 404);
}

TEST_F(Server, HasNoWayToAFile)
{
    for (const std::string path :
         {"/../etc/passwd", "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
          "/api/frame/../../run.json", "/api/frame/..%2f..%2frun.json", "/api/frame/7/../../run.json", "//etc/passwd",
          "/etc/passwd", "/run.json", "/frames/000000.frame", "/api/frame/%2fetc%2fpasswd", "/api/frame/7%00.html",
          "/..\\..\\etc\\passwd", "/index.html/../../etc/passwd", "/%252e%252e/etc/passwd"}) {
        const Answer answer = get(path);
        EXPECT_TRUE(answer.status == 404 || answer.status == 400) << path << ": " << answer.text;
        EXPECT_EQ(answer.text.find("root:"), std::string::npos) << path;
    }
}

TEST_F(Server, RefusesFramesThatAreNotThere)
{
    for (const std::string number : {"8", "999999999", "99999999999999999999", "-1", "7x", ""})
        EXPECT_EQ(get("/api/frame/" + number).status, 404) << number;
}

TEST_F(Server, RefusesAnotherHostsName)
{
    const std::string port = std::to_string(server_.port());
    for (const std::string& host : {"localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port})
        EXPECT_EQ(ask("GET /api/run HTTP/1.1", host).status, 200) << host;
    for (const std::string& host : {std::string("evil.example"), "evil.example:" + port, std::string("127.0.0.1"),
                                    "127.0.0.1.evil.example:" + port, "localhost:1" + port, std::string()}) {
        const Answer answer = ask("GET /api/run HTTP/1.1", host);
        EXPECT_TRUE(answer.status == 403 || answer.status == 400) << host << ": " << answer.text;
        EXPECT_EQ(answer.text.find("fixed"), std::string::npos) << host;
    }
}

TEST_F(Server, RefusesPagesOfOtherSites)
{
    EXPECT_EQ(ask("POST /api/control/play HTTP/1.1\r\nOrigin: http://" + own_host(), own_host()).status, 200);
    EXPECT_EQ(ask("POST /api/control/play HTTP/1.1\r\nOrigin: http://evil.example", own_host()).status, 403);
    EXPECT_EQ(ask("POST /api/control/play HTTP/1.1\r\nOrigin: null", own_host()).status, 403);
}

TEST_F(Server, SaysThatAPortIsBusy)
{
    try {
        ViewServer second(source_, {.port = server_.port()});
        FAIL() << "two servers share a port";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("port " + std::to_string(server_.port())), std::string::npos) << e.what();
    }
}

namespace {

class OpenServer : public Server {
protected:
    OpenServer() : open_(source_, {.host = "0.0.0.0"}) {}
    std::string token() const
    {
        const std::string address = open_.address();
        const std::size_t at = address.find("?token=");
        return at == std::string::npos ? "" : address.substr(at + 7);
    }
    Answer ask_open(const std::string& head) const
    {
        return ask(head, "192.0.2.7:" + std::to_string(open_.port()), open_.port());
    }

    ViewServer open_;
};

} // namespace

TEST_F(OpenServer, BeyondThisMachineAsksForTheTokenOfItsAddress)
{
    ASSERT_EQ(token().size(), 32U) << open_.address();
    const std::vector<std::string> without = {"/api/run", "/", "/api/run?token=" + std::string(32, '0'),
                                              "/api/run?token=", "/api/frame/7?token=" + token().substr(1)};
    for (const std::string& path : without) {
        const Answer answer = ask_open("GET " + path + " HTTP/1.1");
        EXPECT_EQ(answer.status, 403) << path;
        EXPECT_EQ(answer.text.find(token()), std::string::npos) << path;
    }
    EXPECT_EQ(ask_open("POST /api/control/play HTTP/1.1").status, 403);
    const Answer first = ask_open("GET /api/run?token=" + token() + " HTTP/1.1");
    EXPECT_EQ(first.status, 200);
    const std::string name = "pliant-" + std::to_string(open_.port()) + "=" + token();
    EXPECT_NE(first.text.find("Set-Cookie: " + name), std::string::npos) << first.text;
    EXPECT_EQ(ask_open("GET /api/frame/7 HTTP/1.1\r\nCookie: other=1; " + name).status, 200);
    EXPECT_EQ(ask_open("GET /api/frame/7 HTTP/1.1\r\nCookie: other=" + name).status, 403);
}

TEST_F(OpenServer, HasAnotherTokenEachTime)
{
    const ViewServer other(source_, {.host = "0.0.0.0"});
    EXPECT_EQ(other.address().find(token()), std::string::npos);
}
