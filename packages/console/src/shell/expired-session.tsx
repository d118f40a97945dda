import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { queries } from '../api'
import { caller } from '../caller'
import { loadWords } from '../words'

const t = await loadWords('auth')

/** Lies over a page with input that is not saved until the person has signed in again, which another tab can do. */
export function ExpiredSession({ isOpen }: { isOpen: boolean }) {
  const navigate = useNavigate()
  const router = useRouter()
  const wasOpen = useRef(false)
  useEffect(() => {
    if (!isOpen && wasOpen.current) void resume(() => navigate({ to: '/', ignoreBlocker: true }))
    wasOpen.current = isOpen
  }, [isOpen, navigate])
  const leave = () => navigate({ to: '/sign-in', search: { to: router.history.location.href }, ignoreBlocker: true })
  return (
    <Modal
      opened={isOpen}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      title={t.expired}
      zIndex={1000}
    >
      <Stack gap="sm">
        <Text size="sm">{t.expiredHint}</Text>
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={() => void leave()}>
            {t.leavePage}
          </Button>
          <Button component="a" href="/console/sign-in" target="_blank" data-autofocus>
            {t.signInNewTab}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Loads the page anew. What was typed belongs to the person who typed it: somebody else begins at the start. */
async function resume(restart: () => Promise<void>): Promise<void> {
  const earlier = queries.getQueryData(caller.queryKey)?.data.id
  const { data } = await queries.fetchQuery({ ...caller, staleTime: 0 })
  if (data.id === earlier) return queries.invalidateQueries()
  await restart()
  queries.clear()
}
