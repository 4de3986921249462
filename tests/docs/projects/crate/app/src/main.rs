fn main() {
    println!("{}", std::env::args().fold(0, |n, _| parts::add(n, 1)));
}
