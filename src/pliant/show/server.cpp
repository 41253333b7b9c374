#include "pliant/show/server.hpp"

#include "pliant/core/error.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <random>
#include <thread>

namespace pliant {
namespace {

using Request = httplib::Request;
using Response = httplib::Response;

/// 128 random bits as text.
std::string make_token()
{
    std::random_device random;
    std::string text;
    for (int i = 0; i < 4; ++i) text += fmt::format("{:08x}", random());
    return text;
}

bool is_loopback(const std::string& host)
{
    return host == "127.0.0.1" || host == "localhost" || host == "::1";
}

void refuse(Response& response, int status, const std::string& words)
{
    response.status = status;
    response.set_content(words + "\n", "text/plain");
}

/// A number in full, at most nine digits; -1 for anything else.
Index parse_index(const std::string& text)
{
    Index n = -1;
    if (text.size() > 9) return -1;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), n);
    return fault == std::errc() && end == text.data() + text.size() ? n : -1;
}

} // namespace

struct ViewServer::Implementation {
    Implementation(ViewSource& s, const ServerOptions& o)
        : source(s), options(o), token(is_loopback(o.host) ? "" : make_token())
    {}

    /// A page of another site must not reach us: neither by a name of its own that resolves to this machine (Host),
    /// nor by sending requests here from its own address (Origin).
    bool is_allowed(const Request& request) const
    {
        const std::string host = request.get_header_value("Host"), origin = request.get_header_value("Origin");
        if (!origin.empty() && origin != "http://" + host) return false;
        if (!is_loopback(options.host)) return true;
        const std::string suffix = ":" + std::to_string(port);
        return host == "127.0.0.1" + suffix || host == "localhost" + suffix || host == "[::1]" + suffix;
    }

    std::string cookie() const { return fmt::format("pliant-{}={}", port, token); }

    /// Beyond this machine only those come in who were told the address with the token. The first request brings it,
    /// the browser keeps it as a cookie and sends it with all others.
    bool knows_token(const Request& request, Response& response) const
    {
        if (token.empty()) return true;
        if (request.get_param_value("token") == token) {
            response.set_header("Set-Cookie", cookie() + "; Path=/; HttpOnly; SameSite=Strict");
            return true;
        }
        return ("; " + request.get_header_value("Cookie") + ";").find("; " + cookie() + ";") != std::string::npos;
    }

    /// The address names what is asked for, never a file: every route is listed here.
    void add_routes()
    {
        server.set_pre_routing_handler([this](const Request& request, Response& response) {
            using Answer = httplib::Server::HandlerResponse;
            const bool allowed = is_allowed(request);
            if (allowed && knows_token(request, response)) return Answer::Unhandled;
            refuse(response, 403,
                   allowed ? "open the whole address that pliant view has printed: it ends with a token"
                           : "this server answers pages of this machine only");
            return Answer::Handled;
        });
        server.set_default_headers({{"Cache-Control", "no-store"},
                                    {"X-Content-Type-Options", "nosniff"},
                                    {"Content-Security-Policy", "default-src 'self'; img-src 'self' data:"}});
        server.set_exception_handler([](const Request&, Response& response, std::exception_ptr fault) {
            try {
                std::rethrow_exception(fault);
            } catch (const pliant::Error& e) {
                refuse(response, 404, e.what());
            } catch (const std::exception& e) {
                refuse(response, 500, e.what());
            }
        });
        for (const ViewerAsset& asset : viewer_assets()) {
            const auto send = [&asset](const Request&, Response& response) {
                response.set_content(reinterpret_cast<const char*>(asset.content.data()), asset.content.size(),
                                     asset.type);
            };
            const std::string path = asset.path; // of the form /name.ending; routes are regular expressions
            server.Get(std::string(path).replace(path.find('.'), 1, "\\."), send);
            if (path == "/index.html") server.Get("/", send);
        }
        server.Get("/api/run", [this](const Request&, Response& response) {
            response.set_content(source.description().dump(), "application/json");
        });
        server.Get("/api/topology", [this](const Request&, Response& response) {
            response.set_content(source.topology(), "application/octet-stream");
        });
        server.Get(R"(/api/frame/([0-9]+))", [this](const Request& request, Response& response) {
            response.set_content(source.frame(parse_index(request.matches[1])), "application/octet-stream");
        });
        server.Get("/api/stats", [this](const Request& request, Response& response) {
            const std::string from = request.has_param("from") ? request.get_param_value("from") : "0";
            response.set_content(source.stats(static_cast<std::size_t>(std::max(0, parse_index(from)))), "text/csv");
        });
        server.Post(R"(/api/control/([a-z]+))", [this](const Request& request, Response& response) {
            if (!source.control(request.matches[1])) refuse(response, 404, "there is nothing to control");
        });
    }

    void bind()
    {
        // The library's own choice would let two servers share a port.
        server.set_socket_options([](socket_t socket) {
            const int yes = 1;
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        });
        server.set_payload_max_length(1 << 16);
        server.set_keep_alive_max_count(1000);
        server.set_tcp_nodelay(true);
        errno = 0;
        if (options.port == 0)
            port = server.bind_to_any_port(options.host);
        else if (server.bind_to_port(options.host, options.port))
            port = options.port;
        if (port > 0) return;
        const std::string reason = errno != 0 ? std::strerror(errno) : "no such address";
        throw Error(fmt::format("cannot listen on {} port {}: {}{}", options.host, options.port, reason,
                                options.port == 0 ? "" : " (--port 0 takes any free port)"));
    }

    /// The library forgets a stop() that comes before it listens, so this waits until it does.
    void start()
    {
        thread = std::thread([this] {
            server.listen_after_bind();
            ended = true;
        });
        while (!server.is_running() && !ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }

    ViewSource& source;
    const ServerOptions options;
    const std::string token; ///< empty: nobody has to know one
    httplib::Server server;
    std::thread thread;
    std::atomic<bool> ended = false;
    int port = -1;
};

ViewServer::ViewServer(ViewSource& source, const ServerOptions& options)
    : implementation_(std::make_unique<Implementation>(source, options))
{
    implementation_->add_routes();
    implementation_->bind();
    implementation_->start();
}

ViewServer::~ViewServer()
{
    implementation_->server.stop();
    implementation_->thread.join();
}

int ViewServer::port() const
{
    return implementation_->port;
}

std::string ViewServer::address() const
{
    const std::string& host = implementation_->options.host;
    const std::string& token = implementation_->token;
    return fmt::format("http://{}:{}/{}", host.find(':') == std::string::npos ? host : "[" + host + "]", port(),
                       token.empty() ? "" : "?token=" + token);
}

} // namespace pliant
