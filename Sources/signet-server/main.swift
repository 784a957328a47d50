import Server

