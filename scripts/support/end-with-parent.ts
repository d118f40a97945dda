import { Socket } from 'node:net'

// Processes that a script starts load this file. The pipe closes when the script ends for any reason.
const pipe = process.env['PARENT_PIPE']
delete process.env['PARENT_PIPE']
if (pipe) {
  const socket = new Socket({ fd: Number(pipe), readable: true, writable: false })
  const end = () => process.kill(-process.pid, 'SIGKILL')
  socket.once('close', end).once('error', end).resume()
  socket.unref()
}
