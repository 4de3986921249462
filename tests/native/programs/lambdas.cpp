#include <stdexcept>
#include <string>
#include <vector>
template <typename F> static int count(const std::vector<int> &v, F f)
{
    int n = 0;
    for (int x : v)
        if (f(x))
            n++;
    return n;
}
static std::string make(int i)
{
    if (i < 0)
        throw std::invalid_argument("negative");
    return "item" + std::to_string(i);
}
int main()
{
    std::vector<int> v{1, 20, 30, 7};
    int big = count(v, [limit = 10](int x) {
        if (x > limit && x < 1000)
            return true;
        return x == 7;
    });
    try {
        big += (int)make(3).size();
        big += (int)make(-1).size();
    } catch (const std::invalid_argument &) {
        big++;
    }
    return big == 0;
}
