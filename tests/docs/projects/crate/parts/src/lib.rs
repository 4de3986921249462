/// Adds.
/// ```
/// assert_eq!(parts::add(20, 22), 42);
/// ```
pub fn add(a: u64, b: u64) -> u64 {
    if b == 0 {
        return a;
    }
    a + b
}
