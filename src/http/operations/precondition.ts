import { sha256, toBase64Url } from '../../domain/text/encoding.ts'
import { AppError } from '../../domain/errors.ts'

export const computeEtag = async (body: string): Promise<string> => `"${toBase64Url((await sha256(body)).slice(0, 16))}"`

const tagsOf = (header: string): string[] => header.split(',').map((tag) => tag.trim())

/** RFC 9110, 8.8.3.2: `W/"a"` and `"a"` are the same state. For `If-None-Match`. */
export const matchesWeakly = (header: string, etag: string): boolean =>
  header.trim() === '*' || tagsOf(header).some((tag) => tag.replace(/^W\//, '') === etag)

/** A weak tag does not guarantee equal bytes, so it never matches. For `If-Match`. */
const matchesStrongly = (header: string, etag: string): boolean =>
  header.trim() === '*' || tagsOf(header).includes(etag)

/** Whether an existing resource may be changed; `etag` computes the ETag of its state, if it has one. */
export async function checkPreconditions(headers: Headers, etag: (() => Promise<string>) | null): Promise<void> {
  const [ifMatch, ifNoneMatch] = [headers.get('if-match'), headers.get('if-none-match')]
  if (ifNoneMatch?.trim() === '*') throw new AppError('precondition_failed', 'The resource exists.')
  if (!etag || (ifMatch === null && ifNoneMatch === null)) return
  const tag = await etag()
  if (ifMatch !== null && !matchesStrongly(ifMatch, tag))
    throw new AppError('precondition_failed', 'The resource has changed since that ETag.')
  if (ifNoneMatch !== null && matchesWeakly(ifNoneMatch, tag))
    throw new AppError('precondition_failed', 'The resource is still as that ETag says.')
}
