#include "pliant/app/commands.hpp"
#include "pliant/app/simulate.hpp"
#include "pliant/core/error.hpp"
#include "pliant/core/parallel.hpp"
#include "pliant/methods/table.hpp"
#include "pliant/run/array_file.hpp"
#include "pliant/run/directory.hpp"
#include "pliant/run/files.hpp"
#include "pliant/scene/suggest.hpp"
#include "pliant/show/compare.hpp"
#include "pliant/show/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

namespace pliant {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_variants = 32;
constexpr char page_name[] = "compare.html";

struct CompareArguments {
    std::string scene, directory, end, methods;
    std::vector<std::string> overrides, varied;
    int threads = 0, pictures = 5;
    bool force = false, quiet = false;
};

/// A key of the scene with the values that it takes in turn.
struct Variation {
    std::string key;
    std::vector<std::string> values;
};

struct PlannedVariant {
    std::string name;
    fs::path directory;
    Scene scene;
};

/// Splits at commas that are in no bracket and no quotes: a value may be a list.
std::vector<std::string> split_values(const std::string& text)
{
    std::vector<std::string> out(1);
    int depth = 0;
    char quote = 0;
    for (const char c : text) {
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            ++depth;
        } else if (c == ']' || c == '}') {
            --depth;
        }
        if (c == ',' && depth == 0 && quote == 0)
            out.emplace_back();
        else
            out.back() += c;
    }
    for (std::string& value : out) {
        value.erase(0, std::min(value.find_first_not_of(' '), value.size()));
        value.erase(value.find_last_not_of(' ') + 1);
    }
    return out;
}

/// Values of one option: at least one, none of them empty or twice there.
Variation variation(const std::string& key, const std::string& list, const std::string& option)
{
    Variation out{key, split_values(list)};
    std::set<std::string> seen;
    for (const std::string& value : out.values) {
        if (value.empty()) throw Error(fmt::format("{} has an empty value", option));
        if (!seen.insert(value).second) throw Error(fmt::format("{} names '{}' twice", option, value));
    }
    return out;
}

std::vector<Variation> parse_variations(const CompareArguments& arguments)
{
    std::vector<Variation> out;
    if (!arguments.methods.empty()) {
        out.push_back(variation("contact.method", arguments.methods, "--methods " + arguments.methods));
        for (const std::string& name : out.back().values)
            if (!find_method(name))
                throw Error(fmt::format("--methods: unknown method '{}'; the methods are {}{}", name,
                                        join_or(method_names()), did_you_mean(name, method_names())));
    }
    for (const std::string& text : arguments.varied) {
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos)
            throw Error(fmt::format("--vary must be like contact.tolerance=1e-2,1e-3, but is '{}'", text));
        out.push_back(variation(text.substr(0, equals), text.substr(equals + 1), "--vary " + text));
        for (std::size_t i = 0; i + 1 < out.size(); ++i)
            if (out[i].key == out.back().key) throw Error(fmt::format("'{}' is varied twice", out.back().key));
    }
    std::size_t variants = 1;
    for (const Variation& v : out) variants = std::min(variants * v.values.size(), most_variants + 1);
    if (variants < 2)
        throw Error("there is nothing to compare: name two methods (--methods implicit,none) or two values of a key "
                    "(--vary contact.tolerance=1e-2,1e-3)");
    if (variants > most_variants) throw Error(fmt::format("these are more than {} variants", most_variants));
    return out;
}

/// The last part of a key, or all of it where two varied keys end alike.
std::string short_key(const std::string& key, const std::vector<Variation>& all)
{
    const auto last = [](const std::string& k) { return k.substr(k.rfind('.') + 1); };
    const auto alike =
        std::count_if(all.begin(), all.end(), [&](const Variation& v) { return last(v.key) == last(key); });
    return alike > 1 ? key : last(key);
}

std::string file_name(const std::string& name)
{
    std::string out;
    for (const char c : name) {
        const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_' || c == '+';
        if (plain || (!out.empty() && out.back() != '-')) out += plain ? c : '-';
    }
    out.erase(out.find_last_not_of('-') + 1);
    return out.empty() || out.front() == '.' ? "run-" + out : out;
}

/// Every combination of values, with all that can be wrong with it found before anything is written.
std::vector<PlannedVariant> plan(const CompareArguments& arguments, const fs::path& directory)
{
    const std::vector<Variation> variations = parse_variations(arguments);
    std::vector<std::string> common = arguments.overrides;
    if (!arguments.end.empty()) common.push_back("time.end=" + arguments.end);
    std::vector<PlannedVariant> out;
    std::set<std::string> taken;
    std::vector<std::size_t> choice(variations.size(), 0);
    for (bool more = true; more;) {
        PlannedVariant variant;
        std::vector<std::string> overrides = common;
        for (std::size_t i = 0; i < variations.size(); ++i) {
            const auto& [key, values] = variations[i];
            overrides.push_back(key + "=" + values[choice[i]]);
            const std::string part = key == "contact.method" && !arguments.methods.empty()
                                         ? values[choice[i]]
                                         : short_key(key, variations) + " " + values[choice[i]];
            variant.name += (variant.name.empty() ? "" : ", ") + part;
        }
        const std::string plain = file_name(variant.name);
        std::string unique = plain;
        for (int k = 2; !taken.insert(unique).second; ++k) unique = plain + "_" + std::to_string(k);
        variant.directory = directory / unique;
        variant.scene = load_scene(arguments.scene, overrides);
        require_clean_start(arguments.scene, variant.scene, build_world(variant.scene));
        check_directory(variant.scene, variant.directory, !arguments.force, arguments.force);
        out.push_back(std::move(variant));
        std::size_t i = variations.size(); // the last key changes fastest
        while (i > 0 && ++choice[i - 1] == variations[i - 1].values.size()) choice[--i] = 0;
        more = i > 0;
    }
    return out;
}

bool is_done(const PlannedVariant& variant)
{
    std::error_code status;
    if (!fs::exists(variant.directory / run_file::report, status)) return false;
    if (!read_certificate(variant.directory).is_object()) return false;
    const nlohmann::json summary = RunReader(variant.directory).info().value("summary", nlohmann::json::object());
    return summary.value("status", "") == "finished" &&
           summary.value("step", std::int64_t(0)) == variant.scene.step_count();
}

/// Creates the directory, so that a place where nothing can be written is found before the first run.
void prepare(const fs::path& directory)
{
    std::error_code status;
    fs::create_directories(directory, status);
    if (status) throw Error(directory.string() + ": cannot create the directory: " + status.message());
    if (::access(directory.c_str(), W_OK) != 0) throw Error(directory.string() + ": cannot write into the directory");
}

/// The command that makes the page again, for a shell.
std::string command_line(const CompareArguments& arguments)
{
    const auto quoted = [](const std::string& text) {
        const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
            return std::isalnum(c) || std::string_view("._-+=,/:").find(static_cast<char>(c)) != std::string_view::npos;
        });
        return plain ? text : "'" + text + "'";
    };
    std::string out = "pliant compare " + quoted(arguments.scene);
    if (!arguments.methods.empty()) out += " --methods " + quoted(arguments.methods);
    for (const std::string& v : arguments.varied) out += " --vary " + quoted(v);
    for (const std::string& v : arguments.overrides) out += " --set " + quoted(v);
    if (!arguments.end.empty()) out += " --end " + quoted(arguments.end);
    return out;
}

int compare(const CompareArguments& arguments)
{
    set_thread_count(arguments.threads);
    const fs::path directory = arguments.directory.empty()
                                   ? fs::path(default_run_directory(arguments.scene).string() + "-compare")
                                   : fs::path(arguments.directory);
    const std::vector<PlannedVariant> planned = plan(arguments, directory);
    prepare(directory);

    bool all_good = true;
    std::vector<CompareVariant> variants;
    for (const PlannedVariant& p : planned) {
        CompareVariant variant{p.name, p.directory, ""};
        const std::string counter = fmt::format("[{} of {}] {}", variants.size() + 1, planned.size(), p.name);
        if (!arguments.force && is_done(p)) {
            if (!arguments.quiet) fmt::print("{}: is already there\n", counter);
            all_good = all_good && read_certificate(p.directory).value("kept", true);
            variants.push_back(variant);
            continue;
        }
        if (!arguments.quiet) fmt::print("{}\n", counter);
        RunOptions options;
        options.directory = p.directory;
        options.resume = !arguments.force;
        options.force = arguments.force;
        World world = build_world(p.scene);
        try {
            const RunResult result = simulate(p.scene, world, options, arguments.quiet);
            if (!result.finished) {
                fmt::print("interrupted at step {} of {}, state saved; the same command goes on from there\n",
                           result.step, result.steps);
                return exit_interrupted;
            }
        } catch (const RunFailure& e) {
            variant.failure = e.what();
            all_good = false;
            fmt::print("{}: stopped: {}\n", p.name, e.what());
        }
        if (!certify_and_report(p.directory, arguments.quiet)) all_good = false;
        variants.push_back(variant);
    }
    CompareOptions options;
    options.instants = arguments.pictures;
    const std::string page = compare_html(planned.front().scene.title, variants, command_line(arguments), options);
    write_atomically(directory / page_name, std::string_view(page));
    fmt::print("{}\n", (directory / page_name).string());
    return all_good ? exit_done : exit_failed;
}

} // namespace

void add_compare_command(CLI::App& app, int& exit_code)
{
    auto arguments = std::make_shared<CompareArguments>();
    CLI::App* command =
        app.add_subcommand("compare", "Simulate variants of a scene and write one HTML page about them");
    command->add_option("scene", arguments->scene, "Scene file (YAML)")->required();
    command->add_option("--methods", arguments->methods, "Contact methods to compare, like implicit,none");
    command
        ->add_option("--vary", arguments->varied,
                     "Values of a key to compare, like contact.tolerance=1e-2,1e-3; more than one: all combinations")
        ->expected(1)
        ->take_all();
    command->add_option("-o,--output", arguments->directory, "Directory [out/<name of the scene>-compare]");
    command->add_option("--set", arguments->overrides, "Override a key in all variants, like contact.friction=0.5")
        ->expected(1)
        ->take_all();
    command->add_option("--end", arguments->end, "Simulated time, instead of the scene's time.end");
    command->add_option("--pictures", arguments->pictures, "Instants to draw [5]")->check(CLI::Range(1, 50));
    command->add_option("--threads", arguments->threads, "Threads to use; 0 means all cores")
        ->check(CLI::Range(0, 1024));
    command->add_flag("--force", arguments->force, "Start all variants over, whatever the directory holds");
    command->add_flag("-q,--quiet", arguments->quiet, "Print the name of the page only");
    command->callback([arguments, &exit_code] { exit_code = compare(*arguments); });
}

} // namespace pliant
