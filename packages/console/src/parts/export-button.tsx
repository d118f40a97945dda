import type { Init, PathsOf } from '@event-commerce/client'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import type { Operation } from '../generated/roles'
import { words } from '../words'
import { ActionButton } from './action-button'
import { download } from './download'
import { lazyDialog } from './lazy-dialog'

const ExportFailure = lazyDialog(async () => (await import('./export-failure')).ExportFailure)

interface Props<Path extends PathsOf<'get'>> {
  operation: Operation
  path: Path
  /** The filters of the list that is exported. */
  init: Init<Path, 'get'>
  /** The name of the file, where the answer gives none. */
  fileName: string
  label?: string
  reason?: string | null
}

/** Downloads a file of the API, such as a list with its filters. */
export function ExportButton<Path extends PathsOf<'get'>>(props: Props<Path>) {
  const { operation, path, init, fileName, label = words.common.export, reason } = props
  const file = useMutation({ mutationFn: () => download(path, init, fileName) })
  return (
    <>
      <ActionButton
        operation={operation}
        reason={reason}
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        loading={file.isPending}
        onClick={() => file.mutate()}
      >
        {label}
      </ActionButton>
      <ExportFailure
        isOpen={file.isError}
        close={() => file.reset()}
        title={label}
        error={file.error}
        retry={() => file.mutate()}
      />
    </>
  )
}
