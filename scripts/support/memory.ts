import { execFileSync } from 'node:child_process'

/** Of the runtime that serves Workers, in megabytes: the largest below our own process. */
export function residentMegabytes(): number {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid=,rss=,comm='], { encoding: 'utf8' })
    .split('\n')
    .map((row) => row.trim().split(/\s+/))
  const ours = new Set([String(process.pid)])
  for (let size = 0; size !== ours.size;) {
    size = ours.size
    for (const [pid = '', parent = ''] of rows) if (ours.has(parent)) ours.add(pid)
  }
  const resident = rows.filter(([pid = '', , , name = '']) => ours.has(pid) && name.includes('workerd'))
  return Math.max(0, ...resident.map(([, , kilobytes]) => Number(kilobytes))) / 1024
}
