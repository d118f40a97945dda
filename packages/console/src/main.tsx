document.getElementById('root')!.textContent = 'Event Commerce'
