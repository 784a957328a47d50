import ReaderProtocol
import Wire

/// What the process of the readers has sent of a request so far, held to what it was asked.
///
/// Throws `processEnded` for what it may not say: it is not heard any more then.
struct Heard {
    private var prints: [ReaderProtocol.StoredPrint] = []
    private var part: [UInt8] = []
    private var template: Template?

    mutating func take(_ print: ReaderProtocol.StoredPrint) throws(ReaderFault) {
        guard prints.count < ReaderLimit.prints else { throw .processEnded }
        prints.append(print)
    }

    mutating func take(_ bytes: [UInt8], _ isLast: Bool) throws(ReaderFault) {
        guard template == nil, part.count + bytes.count <= Template.limit else {
            throw .processEnded
        }
        part += bytes
        guard isLast else { return }
        guard let whole = try? Template(bytes: part) else { throw .processEnded }
        template = whole
    }

    /// The prints that came since the last time, as what a reader keeps.
    mutating func contents(of reader: ReaderIdentity) -> ReaderContents {
        defer { prints = [] }
        return ReaderContents(prints, of: reader)
    }

    /// A match of one of the templates, on a reader that was meant and that the template is of.
    func match(
        at index: Int, on id: String, _ lost: Set<Int>, _ asked: [ReaderDescription],
        _ templates: [Template]
    ) throws(ReaderFault) -> ListedMatch {
        guard templates.indices.contains(index), lost.allSatisfy(templates.indices.contains),
            !lost.contains(index), let reader = asked.first(where: { $0.id == id })
        else { throw .processEnded }
        let matched = templates[index]
        guard matched.driver == reader.driver, matched.deviceID == reader.deviceID else {
            throw .processEnded
        }
        if let template {
            guard template.isSuccessor(of: matched) else { throw .processEnded }
        }
        return ListedMatch(
            result: .matched(index: index, updated: template), reader: id, lost: lost)
    }

    func noMatch(
        on id: String, _ lost: Set<Int>, _ asked: [ReaderDescription], _ templates: [Template]
    ) throws(ReaderFault) -> ListedMatch {
        guard lost.allSatisfy(templates.indices.contains), prints.count <= 1, template == nil,
            asked.contains(where: { $0.id == id })
        else { throw .processEnded }
        return ListedMatch(result: .noMatch, reader: id, stranger: prints.first, lost: lost)
    }

    /// The template that was enrolled: of the finger, account and reader that were meant.
    func enrolled(
        _ finger: Finger, _ account: String, on reader: ReaderDescription
    ) throws(ReaderFault) -> Template {
        guard let template, template.finger == finger, template.account == account,
            template.driver == reader.driver, template.deviceID == reader.deviceID
        else { throw .processEnded }
        return template
    }
}

extension Template {
    /// Whether this may be kept in the place of another one: it is of the same finger in all but what
    /// the reader compares.
    fileprivate func isSuccessor(of other: Template) -> Bool {
        finger == other.finger && account == other.account && driver == other.driver
            && deviceID == other.deviceID && isStoredOnReader == other.isStoredOnReader
            && holdsMinutiae == other.holdsMinutiae
    }
}
