import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface Process {
  id: string
  megabytes: number
}

/** Reads the memory of a process in megabytes. Returns 0 for a process that has ended. */
function readMegabytes(id: string): number {
  try {
    const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0
  }
}

/** A search blocks this process for tens of milliseconds, and with it the providers and receivers of benches. */
const rememberedMs = 5000
let remembered: { id: string; until: number } | undefined

/** Finds the runtime that serves Workers, which is the largest child process. */
export function findRuntime(): Process | undefined {
  const megabytes = remembered && performance.now() < remembered.until ? readMegabytes(remembered.id) : 0
  if (remembered && megabytes > 0) return { id: remembered.id, megabytes }
  const found = searchRuntime()
  remembered = found && { id: found.id, until: performance.now() + rememberedMs }
  return found
}

function searchRuntime(): Process | undefined {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' })
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const ours = new Set([String(process.pid)])
  for (let size = 0; size !== ours.size;) {
    size = ours.size
    for (const [pid = '', parent = ''] of rows) if (ours.has(parent)) ours.add(pid)
  }
  return rows
    .filter(([pid = '', , , name = '']) => ours.has(pid) && name.includes('workerd'))
    .map(([id = '', , kilobytes]) => ({ id, megabytes: Number(kilobytes) / 1024 }))
    .toSorted((one, other) => other.megabytes - one.megabytes)[0]
}

const ticksPerSecond = 100

/** Reads the processor time of the runtime since its start. Returns 0 when the machine does not provide it. */
export function processorSeconds(): number {
  const id = findRuntime()?.id
  try {
    const status = readFileSync(`/proc/${id}/stat`, 'utf8')
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  } catch {
    return 0
  }
}
