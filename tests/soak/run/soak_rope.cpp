#include "run/twisted.hpp"

using namespace pliant;

TEST(ClothContacts, SheetTwistedIntoARopeNeverCrossesItself)
{
    const Watched w = twist(6, 24);
    EXPECT_TRUE(w.clean()) << w.intersections << " intersections, " << w.crossings << " crossings";
    EXPECT_GT(w.contacts, 200) << "it has not become a rope";
}
