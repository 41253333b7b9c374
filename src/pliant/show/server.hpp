#pragma once
// Serves the viewer's page and one source of data over HTTP, to this machine.

#include "pliant/show/view_source.hpp"

#include <memory>
#include <span>

namespace pliant {

/// A file of the page, compiled in.
struct ViewerAsset {
    const char* path; ///< in the address, "/index.html"
    const char* type; ///< MIME
    std::span<const unsigned char> content;
};
/// Empty when the build left the viewer out.
std::span<const ViewerAsset> viewer_assets();

struct ServerOptions {
    /// Any other also lets requests through that name another host, if they know the token of address().
    std::string host = "127.0.0.1";
    int port = 0; ///< 0: any free one
};

class ViewServer {
public:
    /// Answers until destroyed. Throws Error when the port is busy or the address is not of this machine.
    ViewServer(ViewSource& source, const ServerOptions& options);
    ViewServer(const ViewServer&) = delete;
    ViewServer& operator=(const ViewServer&) = delete;
    ~ViewServer();

    int port() const;
    std::string address() const; ///< "http://127.0.0.1:8000/"; beyond this machine with a token behind it

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace pliant
