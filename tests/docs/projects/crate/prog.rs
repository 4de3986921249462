fn main() {
    println!("{}", std::env::args().count());
}
