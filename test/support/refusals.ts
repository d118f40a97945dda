import type { Reply } from './api.ts'

/**
 * Describes a refusal by its status, its code, and the code and place of each error, such as
 * `400 validation_error: blank #/reason`.
 */
export function describeRefusal({ status, body }: Pick<Reply, 'status' | 'body'>): string {
  const errors = ((body?.errors ?? []) as { code: string; pointer: string | null }[]).map(
    ({ code, pointer }) => `${code} ${pointer}`,
  )
  return `${status} ${body?.code}${errors.length ? `: ${errors.join(', ')}` : ''}`
}
