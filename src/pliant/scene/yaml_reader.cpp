#include "pliant/scene/yaml_reader.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

namespace pliant {
namespace {

/// Builds the tree from the parser's events: yaml-cpp's own tree drops duplicate keys silently.
class TreeBuilder final : public YAML::EventHandler {
public:
    explicit TreeBuilder(std::shared_ptr<const std::string> file) : file_(std::move(file)) {}

    Value take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& at, YAML::anchor_t anchor) override
    {
        Value v;
        v.mark = mark(at);
        add(std::move(v), anchor);
    }
    void OnScalar(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override
    {
        Value v = make_scalar(text, mark(at));
        if (tag == "?" && (text == "~" || text == "null")) v.kind = Value::Kind::null;
        add(std::move(v), anchor);
    }
    void OnAlias(const YAML::Mark& at, YAML::anchor_t anchor) override
    {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) fail(mark(at), "an alias stands inside its own anchor");
        charge(found->second.values, mark(at));
        insert(found->second.value, found->second.values);
    }
    void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override
    {
        open(make_list({}, mark(at)), anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override
    {
        open(make_map(mark(at)), anchor);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        Value value;
        YAML::anchor_t anchor;
        std::size_t values = 1; ///< values in the subtree
        bool has_key = false;
        std::string key;
        Mark key_mark;
        std::unordered_map<std::string, int> key_line; ///< keys so far: a map of many keys stays linear
    };
    struct Anchored {
        Value value;
        std::size_t values;
    };

    Mark mark(const YAML::Mark& at) const { return {file_, at.line + 1, at.column + 1}; }

    void charge(std::size_t values, const Mark& at)
    {
        values_ += values;
        if (values_ > max_scene_values)
            fail(at, "too large: more than " + std::to_string(max_scene_values) + " values once aliases are expanded");
    }

    void add(Value v, YAML::anchor_t anchor)
    {
        charge(1, v.mark);
        if (anchor) anchors_[anchor] = {v, 1};
        insert(std::move(v), 1);
    }

    void open(Value v, YAML::anchor_t anchor)
    {
        charge(1, v.mark);
        stack_.push_back({std::move(v), anchor, 1, false, {}, {}, {}});
    }

    void close()
    {
        Open done = std::move(stack_.back());
        stack_.pop_back();
        if (done.anchor) {
            charge(done.values, done.value.mark); // the stored copy counts too
            anchors_[done.anchor] = {done.value, done.values};
        }
        insert(std::move(done.value), done.values);
    }

    void insert(Value v, std::size_t values)
    {
        if (stack_.empty()) {
            root_ = std::move(v);
            return;
        }
        Open& parent = stack_.back();
        parent.values += values;
        if (parent.value.is_list()) {
            parent.value.items.push_back(std::move(v));
        } else if (!parent.has_key) {
            if (!v.is_scalar()) fail(v.mark, "a key must be a plain word, not " + kind_name(v));
            const auto [first, is_new] = parent.key_line.emplace(v.scalar, v.mark.line);
            if (!is_new)
                fail(v.mark, "duplicate key '" + v.scalar + "', first used in line " + std::to_string(first->second));
            parent.has_key = true;
            parent.key = v.scalar;
            parent.key_mark = v.mark;
        } else {
            if (v.kind == Value::Kind::null) v.mark = parent.key_mark; // the parser's mark is where the next thing is
            parent.value.entries.push_back({std::move(parent.key), parent.key_mark, std::move(v)});
            parent.has_key = false;
        }
    }

    std::shared_ptr<const std::string> file_;
    Value root_;
    std::vector<Open> stack_;
    std::map<YAML::anchor_t, Anchored> anchors_;
    std::size_t values_ = 0;
};

/// Offset of the first byte that is not text: a control character or broken UTF-8; npos when all is well.
std::size_t find_binary(const std::string& text)
{
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 && c != '\n' && c != '\r' && c != '\t') return i;
        const std::size_t length = c < 0x80                ? 1
                                   : c >= 0xc2 && c < 0xe0 ? 2
                                   : (c & 0xf0) == 0xe0    ? 3
                                   : c >= 0xf0 && c < 0xf5 ? 4
                                                           : 0;
        if (length == 0 || i + length > text.size()) return i;
        for (std::size_t k = 1; k < length; ++k)
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return i;
        i += length;
    }
    return std::string::npos;
}

} // namespace

Value read_yaml(const std::string& text, const std::string& name)
{
    const auto file = std::make_shared<const std::string>(name);
    const std::size_t binary = find_binary(text);
    if (binary != std::string::npos)
        fail({file, 0, 0}, "not a text file (byte " + std::to_string(binary) + " is binary)");
    std::istringstream stream(text);
    TreeBuilder builder(file);
    try {
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(builder)) return make_map({file, 1, 1});
        Value root = builder.take();
        TreeBuilder second(file);
        if (parser.HandleNextDocument(second))
            fail(second.take().mark, "a scene file holds one YAML document, not several");
        if (root.kind == Value::Kind::null) root = make_map({file, 1, 1});
        return root;
    } catch (const YAML::DeepRecursion& e) {
        fail({file, e.mark.line + 1, e.mark.column + 1}, "lists and maps are nested too deeply");
    } catch (const YAML::Exception& e) {
        fail({file, e.mark.line + 1, e.mark.column + 1}, "not valid YAML: " + e.msg);
    }
}

std::string read_text_file(const std::filesystem::path& path)
{
    std::error_code status;
    if (std::filesystem::is_directory(path, status)) throw Error(path.string() + ": is a directory, not a file");
    std::ifstream stream(path, std::ios::binary);
    if (!stream) throw Error(path.string() + ": cannot open the file");
    std::string text;
    char buffer[65536];
    while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
        text.append(buffer, static_cast<std::size_t>(stream.gcount()));
        if (text.size() > max_scene_bytes)
            throw Error(path.string() + ": larger than " + std::to_string(max_scene_bytes >> 20) +
                        " MB, too large for a scene");
    }
    return text;
}

Value read_yaml_file(const std::filesystem::path& path)
{
    return read_yaml(read_text_file(path), path.string());
}

} // namespace pliant
