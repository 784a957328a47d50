// SPDX-License-Identifier: Apache-2.0

/// The names and the introspection data of the interface that desktops use.
///
/// It is that of fprintd 1.94, whose name the programs of desktops know.
package enum InterfaceDescription {
    /// The name on the system bus.
    package static let name = "net.reactivated.Fprint"
    /// The object that lists the devices with their properties.
    package static let root = "/net/reactivated/Fprint"
    /// The object with the interface `manager`.
    package static let managerPath = root + "/Manager"
    /// The interface that names the devices.
    package static let manager = name + ".Manager"
    /// The interface of each device.
    package static let device = name + ".Device"
    /// What the names of errors begin with.
    package static let errorPrefix = name + ".Error."

    /// Returns the path of a device; numbers begin at 0 and are never used again.
    package static func path(ofDevice number: Int) -> String { root + "/Device/\(number)" }

    /// The introspection data of the manager.
    package static let managerXML = node(
        """
        <interface name="\(manager)">
          <method name="GetDevices"><arg type="ao" name="devices" direction="out"/></method>
          <method name="GetDefaultDevice"><arg type="o" name="device" direction="out"/></method>
        </interface>
        """)

    /// The introspection data of a device.
    package static let deviceXML = node(
        """
        <interface name="\(device)">
          <method name="Claim"><arg type="s" name="username" direction="in"/></method>
          <method name="Release"/>
          <method name="ListEnrolledFingers">
            <arg type="s" name="username" direction="in"/>
            <arg type="as" name="enrolled_fingers" direction="out"/>
          </method>
          <method name="VerifyStart"><arg type="s" name="finger_name" direction="in"/></method>
          <method name="VerifyStop"/>
          <method name="EnrollStart"><arg type="s" name="finger_name" direction="in"/></method>
          <method name="EnrollStop"/>
          <method name="DeleteEnrolledFinger">
            <arg type="s" name="finger_name" direction="in"/>
          </method>
          <method name="DeleteEnrolledFingers2"/>
          <method name="DeleteEnrolledFingers">
            <arg type="s" name="username" direction="in"/>
            <annotation name="org.freedesktop.DBus.Deprecated" value="true"/>
          </method>
          <signal name="VerifyFingerSelected"><arg type="s" name="finger_name"/></signal>
          <signal name="VerifyStatus">
            <arg type="s" name="result"/>
            <arg type="b" name="done"/>
          </signal>
          <signal name="EnrollStatus">
            <arg type="s" name="result"/>
            <arg type="b" name="done"/>
          </signal>
          <property name="name" type="s" access="read"/>
          <property name="num-enroll-stages" type="i" access="read"/>
          <property name="scan-type" type="s" access="read"/>
          <property name="finger-present" type="b" access="read"/>
          <property name="finger-needed" type="b" access="read"/>
        </interface>
        """)

    /// The introspection data of the object at `root`.
    package static let rootXML = node(
        """
        <interface name="\(objectManager)">
          <method name="GetManagedObjects">
            <arg type="a{oa{sa{sv}}}" name="objects" direction="out"/>
          </method>
          <signal name="InterfacesAdded">
            <arg type="o" name="path"/>
            <arg type="a{sa{sv}}" name="interfaces"/>
          </signal>
          <signal name="InterfacesRemoved">
            <arg type="o" name="path"/>
            <arg type="as" name="interfaces"/>
          </signal>
        </interface>
        """)

    /// The interface with which objects are listed (D-Bus specification, "Standard Interfaces").
    package static let objectManager = "org.freedesktop.DBus.ObjectManager"

    private static func node(_ interfaces: String) -> String { "<node>\(interfaces)</node>" }
}
