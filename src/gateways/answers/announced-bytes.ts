/** The Content-Length of a response. Null if it is missing, or the body is compressed and could unpack to any length. */
export function readContentLength({ headers }: Response): number | null {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? null : Number(length)
}
