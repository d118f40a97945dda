import { eq } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { files } from '../../../db/schema/files/files.ts'
import { select } from '../../../db/select.ts'
import { buildDerivedKey, type MadeVariant } from '../../../domain/files/addresses.ts'
import type { OpenObject } from '../../../gateways/files/files.ts'
import type { ImageShape, ImagesGateway } from '../../../gateways/images/images.ts'
import type { ServedFile } from './served-file.ts'

const shapes: Record<MadeVariant, ImageShape> = {
  thumbnail: { width: 200, height: 200, fit: 'crop' },
  optimized: { width: 1200, fit: 'scale-down' },
  large: { width: 2400, fit: 'scale-down' },
}

/** A request waits so long for one that makes the same variant, and then makes it too. */
const waitMs = 10_000

/** Variants that this isolate is making. Of several isolates the first one's variant is kept. */
const making = new Map<string, Promise<void>>()

type VariantSource = Pick<ServedFile, 'storage_key'>

/** False when the last file with these bytes was deleted while the variant was made. */
async function isReferred({ db }: JobCtx, { storage_key }: VariantSource): Promise<boolean> {
  const anyFile = select({ storage_key: files.storage_key })
    .from(files)
    .where(eq(files.storage_key, storage_key))
    .limit(1)
  return (await db.first(anyFile)) !== undefined
}

async function make(job: JobCtx, images: ImagesGateway, file: VariantSource, variant: MadeVariant): Promise<void> {
  const source = await job.files.open(file.storage_key)
  if (!source) throw new Error(`the bytes of ${file.storage_key} are gone`)
  const made = await images.toWebp(source.body, shapes[variant])
  const key = buildDerivedKey(file.storage_key, variant)
  const size = made.byteLength
  await job.files.put(new Blob([made]).stream(), { key, size, maxBytes: size, headBytes: 0 })
  if (!(await isReferred(job, file))) await job.files.delete([key])
}

function start(key: string, work: () => Promise<void>): Promise<void> {
  const made = work().finally(() => making.delete(key))
  making.set(key, made)
  return made
}

/** False where the request that makes it takes too long: a request that ended takes its work with it. */
async function isMadeBefore(made: Promise<void>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs)
  })
  return Promise.race([made.then(() => true), late]).finally(() => clearTimeout(timer))
}

export interface VariantRequest {
  file: VariantSource
  variant: MadeVariant
  images: ImagesGateway
  /** Lets the work go on after its request has ended. */
  keepAlive: (work: Promise<unknown>) => void
}

/** A variant, made where it is not kept yet. Parallel requests make it once. Throws where it cannot be made. */
export async function openVariant(job: JobCtx, request: VariantRequest): Promise<OpenObject | null> {
  const { file, variant, images, keepAlive } = request
  const key = buildDerivedKey(file.storage_key, variant)
  const kept = await job.files.open(key)
  if (kept) return kept
  const others = making.get(key)
  if (!others || !(await isMadeBefore(others))) {
    const made = start(key, () => make(job, images, file, variant))
    keepAlive(made.catch(() => undefined))
    try {
      await made
    } catch (error) {
      // Another isolate may have kept one meanwhile.
      const theirs = await job.files.open(key)
      if (theirs) return theirs
      throw error
    }
  }
  return job.files.open(key)
}
