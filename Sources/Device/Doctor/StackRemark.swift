// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import LoginProtocol

/// Remarks on one place in the stacks of one service, and the findings they become.
extension StackExamination {
    /// A remark. Services with equal remarks are reported in one finding.
    struct Remark: Hashable {
        enum Kind: Hashable {
            case unreachable, noPassword, open(String), afterFault(String), afterMismatch(String)
            case touchNotEnough, gate(String), failuresStay, fingersCounted, longJump(String)
            case tangled, twice(String), other(String), type(String), option(String)
            case socket(String), broken, missing(String), loop(String)
            case unasked(String), shadowed(String, by: String), behindPassword(String)
            case blocksTyping(String)
            case released(String), keyringRemote, keyringUnlisted, keyringMissing
        }

        let kind: Kind
        /// The file, or the file and line.
        let place: String
    }
}

extension StackExamination {
    /// The finding for a remark that applies to all these services.
    func finding(_ remark: Remark, services: Bytes) -> Finding {
        let place = files.shown(remark.place).bytes
        switch remark.kind {
        case .unreachable: return .passwordUnreachable(services: services, file: place)
        case .noPassword: return .noPassword(services: services, file: place)
        case .open(let codes):
            return .stackOpen(services: services, codes: codes.bytes, file: place)
        case .afterFault(let codes):
            return .passwordLostAfterFault(services: services, codes: codes.bytes, file: place)
        case .afterMismatch(let codes):
            return .passwordLostAfterMismatch(services: services, codes: codes.bytes, file: place)
        case .touchNotEnough: return .touchNotEnough(services: services, file: place)
        case .gate(let module):
            return .gateSkipped(services: services, module: module.bytes, place: place)
        case .failuresStay: return .failuresStay(services: services, place: place)
        case .fingersCounted: return .fingersCounted(services: services, file: place)
        case .longJump(let module):
            return .longJump(services: services, module: module.bytes, place: place)
        case .tangled: return .stackTangled(services: services, file: place)
        case .twice(let places):
            return .moduleTwice(services: services, places: places.bytes, file: place)
        case .other(let module):
            return .otherFingerprint(services: services, module: module.bytes, file: place)
        case .type(let type):
            return .wrongType(services: services, type: type.bytes, place: place)
        case .option(let word):
            return .moduleOption(services: services, option: word.bytes, place: place)
        case .socket(let path): return .socketElsewhere(services: services, path: path.bytes)
        case .broken: return .stackBroken(services: services, place: place)
        case .missing(let name):
            return .includeMissing(services: services, name: name.bytes, place: place)
        case .loop(let name):
            return .includeLoop(services: services, name: name.bytes, place: place)
        case .unasked(let module):
            return .passwordUnasked(services: services, module: module.bytes, place: place)
        case .shadowed(let module, let other):
            return .passwordShadowed(
                services: services, module: module.bytes, by: other.bytes, place: place)
        case .behindPassword(let module):
            return .touchBehindPassword(services: services, module: module.bytes, place: place)
        case .blocksTyping(let service):
            return .typingBlocked(service: service.bytes, file: place)
        case .released(let module):
            return .releasedPassword(services: services, module: module.bytes, place: place)
        case .keyringRemote: return .keyringRemote(services: services, place: place)
        case .keyringUnlisted: return .keyringUnlisted(services: services, place: place)
        case .keyringMissing: return .keyringMissing(services: services, place: place)
        }
    }
}
