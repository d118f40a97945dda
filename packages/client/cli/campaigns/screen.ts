import { cleanText } from '../output.ts'
import type { Progress } from './progress.ts'

const barLength = 30

/** Writes a duration as people say it: `45 s`, `12 min`, `3 h 5 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const formatBar = ({ total_recipients, pending_count }: Progress): string => {
  const share = total_recipients === 0 ? 0 : (total_recipients - pending_count) / total_recipients
  const filled = Math.floor(share * barLength)
  return `[${'#'.repeat(filled)}${'-'.repeat(barLength - filled)}] ${Math.floor(share * 100)} %`
}

const listReasons = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .toSorted(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ')

function describeRate({ status, messages_per_second, seconds_left }: Progress): string[] {
  if (status !== 'sending' || messages_per_second === null) return []
  const timeLeft = seconds_left === null ? '' : `, about ${formatDuration(seconds_left)} left`
  return [`${messages_per_second} messages a second${timeLeft}`]
}

/** The lines of the screen, each without control characters. */
export function drawProgress(progress: Progress): string[] {
  const { name, status, scheduled_at, sent_count, failed_count, pending_count, skipped_count, delivered_count } =
    progress
  const { is_paused, waiting_reason, next_attempt_at, failed_by_reason, error_message } = progress
  const begins = status === 'scheduled' && scheduled_at !== null ? `, begins at ${scheduled_at}` : ''
  const next = next_attempt_at === null ? '' : ` It goes on at ${next_attempt_at}.`
  return [
    `${name}: ${status}${begins}${is_paused ? ', paused' : ''}`,
    formatBar(progress),
    `sent ${sent_count}, delivered ${delivered_count}, failed ${failed_count}, pending ${pending_count}, skipped ${skipped_count}`,
    ...describeRate(progress),
    ...(failed_count > 0 ? [`failures: ${listReasons(failed_by_reason)}`] : []),
    ...(waiting_reason === null ? [] : [`waiting: ${waiting_reason}${next}`]),
    ...(error_message === '' ? [] : [error_message]),
  ].map(cleanText)
}

/** Replaces what it wrote before. Lines longer than the terminal are cut, because they would take two. */
export function openScreen(stream: NodeJS.WriteStream): (lines: readonly string[]) => void {
  let height = 0
  return (lines) => {
    const width = stream.columns || 80
    const text = lines.map((line) => [...line].slice(0, width - 1).join('')).join('\n')
    stream.write(`${height > 0 ? `\u001b[${height}A\u001b[J` : ''}${text}\n`)
    height = lines.length
  }
}
