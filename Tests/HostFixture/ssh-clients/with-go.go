// SPDX-License-Identifier: Apache-2.0

// Lists the agent's keys, has other data than a login refused, and logs in at the sshd beside it, with
// Go's x/crypto.
package main

import (
	"fmt"
	"log"
	"net"
	"os"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

func main() {
	socket, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK"))
	if err != nil {
		log.Fatal(err)
	}
	client := agent.NewClient(socket)
	keys, err := client.List()
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range keys {
		fmt.Println("key", key.Type())
		if _, err := client.Sign(key, []byte("neither a login nor a file")); err == nil {
			log.Fatal("other data were signed")
		}
	}
	hosts, err := knownhosts.New("/run/hosts")
	if err != nil {
		log.Fatal(err)
	}
	session, err := ssh.Dial("tcp", "127.0.0.1:22", &ssh.ClientConfig{
		User:            "alice",
		Auth:            []ssh.AuthMethod{ssh.PublicKeysCallback(client.Signers)},
		HostKeyCallback: hosts,
		// The only type of key that the sshd has.
		HostKeyAlgorithms: []string{ssh.KeyAlgoED25519},
	})
	if err != nil {
		log.Fatal(err)
	}
	command, err := session.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	output, err := command.Output("echo logged in")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(output))
}
