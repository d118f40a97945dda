import { Modal } from '@mantine/core'
import { Refusal } from './refusal'

interface Props {
  isOpen: boolean
  close: () => void
  title: string
  error: Error | null
  retry: () => void
}

/** Says why a file could not be downloaded. */
export const ExportFailure = ({ isOpen, close, title, error, retry }: Props) => (
  <Modal opened={isOpen} onClose={close} title={title}>
    {error && <Refusal error={error} retry={retry} />}
  </Modal>
)
