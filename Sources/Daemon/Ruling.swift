import Wire

/// What a step of a request came to: it goes on with a value, or the answer is no.
enum Ruling<Value> {
    case allow(Value)
    case deny(Denial)
}

extension Ruling {
    /// The same ruling with another value.
    func map<Other>(_ transform: (Value) -> Other) -> Ruling<Other> {
        switch self {
        case .allow(let value): .allow(transform(value))
        case .deny(let denial): .deny(denial)
        }
    }
}

extension Ruling: Sendable where Value: Sendable {}
