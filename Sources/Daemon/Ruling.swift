import Wire

/// What a step of a request came to: it goes on with a value, or the answer is no.
enum Ruling<Value> {
    case allow(Value)
    case deny(Denial)
}

extension Ruling: Sendable where Value: Sendable {}
