import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface Process {
  id: string
  megabytes: number
}

/** The runtime that serves Workers: the largest below our own process. */
export function findRuntime(): Process | undefined {
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

/** The processor time of the runtime since its start; 0 when the machine does not provide it. */
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
