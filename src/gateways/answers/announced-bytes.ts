/**
 * How long the body of an answer is, where its head says it; otherwise null. A compressed body announces its bytes before
 * they are unpacked, and a few kilobytes unpack to any length, so its announcement says nothing.
 */
export function readContentLength({ headers }: Response): number | null {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? null : Number(length)
}
