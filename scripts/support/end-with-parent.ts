import { Socket } from 'node:net'

// Loaded into what a script starts. The other end of the pipe closes when the script ends, however it ends.
const pipe = process.env['PARENT_PIPE']
delete process.env['PARENT_PIPE']
if (pipe) {
  const socket = new Socket({ fd: Number(pipe), readable: true, writable: false })
  const end = () => process.kill(-process.pid, 'SIGKILL')
  socket.once('close', end).once('error', end).resume()
  socket.unref()
}
