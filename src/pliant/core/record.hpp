#pragma once
// Structs whose members can be visited by name, and a slot that holds any one of them: what a method remembers between
// steps, and what it reports of one.
//
// Such a struct is an aggregate that lists the names of its members, in their order:
//   struct Memory { Real substep = 0; Vec3s change; static constexpr const char* member_names[] = {"substep",
//   "change"}; };
// A member without a name does not compile. Members are numbers, arrays of numbers or of Vec3, and arrays of such
// structs, which become one array a member.

#include "pliant/core/types.hpp"

#include <cassert>
#include <concepts>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

namespace pliant {

/// Sees all members of a struct as arrays of plain numbers; one that loads replaces them.
class RecordVisitor {
public:
    virtual ~RecordVisitor() = default;
    virtual void visit(const std::string& name, std::vector<Real>& values, int components) = 0;
    virtual void visit(const std::string& name, std::vector<std::int64_t>& values, int components) = 0;
};

template <class T>
concept NamedMembers = requires
{
    std::size(T::member_names);
};

namespace detail {

/// References to all N members: any other number of members fails to compile here.
template <std::size_t N, class T>
auto tie_members(T& s)
{
    // clang-format off
#define PLIANT_TIE(n, ...) if constexpr (N == n) { auto& [__VA_ARGS__] = s; return std::tie(__VA_ARGS__); } else
    PLIANT_TIE(1, a)
    PLIANT_TIE(2, a, b)
    PLIANT_TIE(3, a, b, c)
    PLIANT_TIE(4, a, b, c, d)
    PLIANT_TIE(5, a, b, c, d, e)
    PLIANT_TIE(6, a, b, c, d, e, f)
    PLIANT_TIE(7, a, b, c, d, e, f, g)
    PLIANT_TIE(8, a, b, c, d, e, f, g, h)
    PLIANT_TIE(9, a, b, c, d, e, f, g, h, i)
    PLIANT_TIE(10, a, b, c, d, e, f, g, h, i, j)
    PLIANT_TIE(11, a, b, c, d, e, f, g, h, i, j, k)
    PLIANT_TIE(12, a, b, c, d, e, f, g, h, i, j, k, l)
    PLIANT_TIE(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    PLIANT_TIE(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    PLIANT_TIE(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    PLIANT_TIE(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    PLIANT_TIE(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    PLIANT_TIE(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    PLIANT_TIE(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t)
    PLIANT_TIE(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, t, u)
    static_assert(N == 0, "more members than tie_members() knows: add a line above");
#undef PLIANT_TIE
    // clang-format on
}

/// One array of numbers: element(items[i]) for all i. Items is a (const) vector; where it is not const the visitor's
/// answer goes back into it.
template <class Items, class Element>
void visit_array(const std::string& name, Items& items, const Element& element, RecordVisitor& visitor)
{
    using E = std::remove_cvref_t<decltype(element(*items.data()))>;
    static_assert(std::is_arithmetic_v<E> || std::is_same_v<E, Vec3>, "a member that cannot be stored");
    using Number = std::conditional_t<std::is_integral_v<E>, std::int64_t, Real>;
    constexpr int components = std::is_arithmetic_v<E> ? 1 : 3;
    std::vector<Number> numbers;
    numbers.reserve(items.size() * components);
    for (auto& item : items) {
        if constexpr (components == 1)
            numbers.push_back(static_cast<Number>(element(item)));
        else
            numbers.insert(numbers.end(), {element(item)[0], element(item)[1], element(item)[2]});
    }
    visitor.visit(name, numbers, components);
    if constexpr (!std::is_const_v<Items>) {
        items.resize(numbers.size() / components);
        for (std::size_t i = 0; i < items.size(); ++i) {
            if constexpr (components == 1)
                element(items[i]) = static_cast<E>(numbers[i]);
            else
                element(items[i]) = Vec3(numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]);
        }
    }
}

template <class Member>
void visit_member(const std::string& name, Member& member, RecordVisitor& visitor)
{
    const auto self = [](auto& x) -> auto&
    {
        return x;
    };
    if constexpr (std::is_arithmetic_v<Member>) {
        std::vector<std::remove_const_t<Member>> one = {member};
        visit_array(name, one, self, visitor);
        if constexpr (!std::is_const_v<Member>)
            if (one.size() == 1) member = one[0];
    } else if constexpr (NamedMembers<typename Member::value_type>) {
        using Item = typename Member::value_type;
        constexpr std::size_t n = std::size(Item::member_names);
        const auto each = [&]<std::size_t... I>(std::index_sequence<I...>)
        {
            (visit_array(
                 name + "." + Item::member_names[I], member,
                 [](auto& item) -> auto& { return std::get<I>(tie_members<n>(item)); }, visitor),
             ...);
        };
        each(std::make_index_sequence<n>());
    } else {
        visit_array(name, member, self, visitor);
    }
}

} // namespace detail

/// Shows all members to the visitor, in their order. Of a const struct it sees copies.
template <class T>
void visit_members(T& s, RecordVisitor& visitor)
{
    constexpr std::size_t n = std::size(T::member_names);
    const auto each = [&]<std::size_t... I>(std::index_sequence<I...>)
    {
        const auto members = detail::tie_members<n>(s);
        (detail::visit_member(T::member_names[I], std::get<I>(members), visitor), ...);
    };
    each(std::make_index_sequence<n>());
}

/// A slot for a struct with named members, with the value semantics of the struct.
class Record {
public:
    Record() = default;
    template <NamedMembers T>
    Record(T value) : held_(std::make_unique<Of<T>>(std::move(value)))
    {}
    Record(const Record& other) : held_(other.held_ ? other.held_->copy() : nullptr) {}
    Record(Record&&) noexcept = default;
    Record& operator=(Record other) noexcept
    {
        held_.swap(other.held_);
        return *this;
    }

    bool empty() const { return !held_; }
    /// Null when the slot holds something else or nothing.
    template <NamedMembers T>
    const T* find() const
    {
        const auto* held = dynamic_cast<const Of<T>*>(held_.get());
        return held ? &held->value : nullptr;
    }
    /// Must hold a T.
    template <NamedMembers T>
    const T& get() const
    {
        assert(find<T>());
        return *find<T>();
    }
    /// What it holds, to be changed; whatever else there was gives way to a new T.
    template <NamedMembers T>
    T& use()
    {
        if (!find<T>()) held_ = std::make_unique<Of<T>>(T());
        return static_cast<Of<T>&>(*held_).value;
    }

    void visit(RecordVisitor& visitor) const
    {
        if (held_) std::as_const(*held_).visit(visitor);
    }
    /// The visitor's answers replace the members.
    void load(RecordVisitor& visitor)
    {
        if (held_) held_->load(visitor);
    }

private:
    struct Held {
        virtual ~Held() = default;
        virtual std::unique_ptr<Held> copy() const = 0;
        virtual void visit(RecordVisitor& visitor) const = 0;
        virtual void load(RecordVisitor& visitor) = 0;
    };
    template <class T>
    struct Of final : Held {
        explicit Of(T v) : value(std::move(v)) {}
        std::unique_ptr<Held> copy() const override { return std::make_unique<Of>(value); }
        void visit(RecordVisitor& visitor) const override { visit_members(value, visitor); }
        void load(RecordVisitor& visitor) override { visit_members(value, visitor); }
        T value;
    };
    std::unique_ptr<Held> held_;
};

} // namespace pliant
