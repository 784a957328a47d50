// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Runs a body on a thread of its own whose mounts, and if wanted descriptors, are its own.
///
/// Both end with the thread, so nothing of the machine's own /etc or /run is changed or left over.
package enum PrivateThread {
    package struct Fault: Error {
        package let step: String
        package let code: Int32

        package init(step: String, code: Int32) {
            self.step = step
            self.code = code
        }
    }

    private typealias Unshare = @convention(c) (Int32) -> Int32
    private typealias Mount =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?, UInt,
            UnsafePointer<CChar>?
        ) -> Int32

    private final class Task<Value> {
        let body: () throws -> Value
        var result: Result<Value, any Error>?
        init(_ body: @escaping () throws -> Value) { self.body = body }
        func run() { result = Result(catching: body) }
    }

    package static func run<Value>(
        privateDescriptors: Bool = false, _ body: @escaping () throws -> Value
    ) throws -> Value {
        let task = Task {
            try isolate(privateDescriptors: privateDescriptors)
            return try body()
        }
        let run: () -> Void = { task.run() }
        let box = unsafe Unmanaged.passRetained(run as AnyObject)
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                let object = unsafe Unmanaged<AnyObject>.fromOpaque(context).takeRetainedValue()
                if let run = object as? () -> Void { run() }
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            unsafe box.release()
            throw Fault(step: "pthread_create", code: status)
        }
        pthread_join(thread, nil)
        guard let result = task.result else { throw Fault(step: "thread", code: 0) }
        return try result.get()
    }

    /// Mounts an empty file system over a directory, for this thread only.
    package static func cover(_ directory: String) throws {
        try mount("tmpfs", directory, "tmpfs", 0, "mode=0755")
    }

    /// Shows `source` at `target`, for this thread only.
    package static func show(_ source: String, at target: String) throws {
        try mount(source, target, nil, UInt(MS_BIND), nil)
    }

    package static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw Fault(step: path, code: errno) }
        defer { _ = close(file) }
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else {
            throw Fault(step: path, code: errno)
        }
    }

    private static func isolate(privateDescriptors: Bool) throws {
        let newMounts: Int32 = 0x20000
        let ownDescriptors: Int32 = 0x400
        guard let symbol = unsafe dlsym(nil, "unshare") else {
            throw Fault(step: "unshare", code: 0)
        }
        let unshare = unsafe unsafeBitCast(symbol, to: Unshare.self)
        guard unshare(newMounts | (privateDescriptors ? ownDescriptors : 0)) == 0 else {
            throw Fault(step: "unshare", code: errno)
        }
        try mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil)
    }

    private static func mount(
        _ source: String, _ target: String, _ kind: String?, _ flags: UInt, _ data: String?
    ) throws {
        let status = unsafe Glibc.mount(source, target, kind, flags, data)
        guard status == 0 else { throw Fault(step: "mount " + target, code: errno) }
    }
}
