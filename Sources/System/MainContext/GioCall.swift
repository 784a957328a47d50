// SPDX-License-Identifier: Apache-2.0
import CGLib

/// The `GError` with which a GLib call failed.
package struct GioFault: Error, Sendable {
    /// The name of the error's domain (`g_quark_to_string`).
    package let domain: String
    /// The code within the domain.
    package let code: Int32
    /// GLib's own message, for the journal.
    package let message: String

    /// Whether the call failed because its task was cancelled (`G_IO_ERROR_CANCELLED`).
    package var isCancelled: Bool {
        unsafe domain == String(cString: g_quark_to_string(g_io_error_quark()))
            && code == Int32(G_IO_ERROR_CANCELLED.rawValue)
    }

    /// The fault for calls on any other thread, where the end of the call would never be reported.
    static let noContext = GioFault(
        domain: "signet-loop", code: 0, message: "the calling thread runs no main context")

    private init(domain: String, code: Int32, message: String) {
        self.domain = domain
        self.code = code
        self.message = message
    }

    /// Takes ownership of the error and frees it.
    package init(taking error: UnsafeMutablePointer<GError>) {
        self = unsafe GioFault(copying: error)
        unsafe g_error_free(error)
    }

    /// Copies an error that the library continues to own.
    package init(copying error: UnsafePointer<GError>) {
        unsafe domain =
            g_quark_to_string(error.pointee.domain).map { unsafe String(cString: $0) } ?? ""
        unsafe code = error.pointee.code
        unsafe message = error.pointee.message.map { unsafe String(cString: $0) } ?? ""
    }
}

/// Makes one asynchronous GIO call and waits for its end.
///
/// The caller must be on one of the two actors. If the task is cancelled, the call is cancelled on
/// the loop's own thread and still waited for, so no part of it outlives this function.
///
/// - Parameters:
///   - start: Makes the `…_async` call, with the arguments that every such function takes.
///   - finish: Makes the matching `…_finish` call, with the result and a place for the error.
/// - Throws: the error that `finish` reported, even if it returned a value; `noContext` on any
///   other thread, where nothing is called.
package func gioAsync<Value>(
    isolation: isolated (any Actor)? = #isolation,
    start: (UnsafeMutablePointer<GCancellable>?, @escaping GAsyncReadyCallback, gpointer) -> Void,
    finish: (OpaquePointer, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> Value
) async throws(GioFault) -> Value {
    guard let context = ContextExecutor.current else { throw .noContext }
    let cancellable = Cancellable(context)
    let parked = Parked<GioResult>()
    let ended: GAsyncReadyCallback = { _, result, data in
        guard let result = unsafe result, let data = unsafe data else { return }
        unsafe g_object_ref(gpointer(result))
        let parked = unsafe Unmanaged<Parked<GioResult>>.fromOpaque(data).takeRetainedValue()
        unsafe parked.resume(GioResult(result))
    }
    let result = await parked.wait {
        unsafe start(cancellable.pointer, ended, Unmanaged.passRetained(parked).toOpaque())
    } cancelled: {
        cancellable.cancel()
    }
    var error: UnsafeMutablePointer<GError>?
    let value = unsafe finish(result.pointer, &error)
    if let error = unsafe error { throw unsafe GioFault(taking: error) }
    return value
}

/// SAFETY: a counted reference to a result that is complete and no longer written.
@safe private final class GioResult: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ owned: OpaquePointer) {
        unsafe pointer = unsafe owned
    }

    deinit {
        unsafe g_object_unref(gpointer(pointer))
    }
}

/// SAFETY: a counted reference; cancelling is posted to the one thread that listens to it.
@safe private final class Cancellable: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GCancellable>?
    private let context: ContextExecutor

    init(_ context: ContextExecutor) {
        unsafe pointer = g_cancellable_new()
        self.context = context
    }

    deinit {
        unsafe g_object_unref(pointer)
    }

    func cancel() {
        Source.post(to: context) { [self] in unsafe g_cancellable_cancel(pointer) }
    }
}
