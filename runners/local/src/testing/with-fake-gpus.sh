#!/bin/sh
# with-fake-gpus.sh PROGRAM…: runs PROGRAM where /dev has the device files of four GPUs, in a mount namespace of its own.
# Each is a copy of /dev/null: a test can see which of them a stage sees, and nothing about CUDA.
# Under root, /proc/driver/nvidia describes them. As another user it does not: a covered /proc cannot be mounted again.
set -eu
mkdir -p "$TMPDIR/dev"
mount --rbind /dev "$TMPDIR/dev"
mount -t tmpfs -o mode=755 none /dev
ln -s /proc/self/fd /dev/fd
mkdir /dev/shm /dev/dri /dev/nvidia-caps
chmod 1777 /dev/shm
bound() { touch "/dev/$1"; mount --bind "$TMPDIR/dev/$2" "/dev/$1"; }
for name in null zero full random urandom tty; do bound $name $name; done
for name in 0 1 2 3 ctl -uvm -uvm-tools -modeset; do bound "nvidia$name" null; done
for name in 1 2 11 12 21 22; do bound "nvidia-caps/nvidia-cap$name" null; done
for name in card0 renderD128; do bound "dri/$name" null; done
if [ "$MLRB_FAKE_GPUS" = root ]; then
  mount -t tmpfs none /proc/driver
  for index in 0 1 2 3; do
    mkdir -p "/proc/driver/nvidia/gpus/0000:0$index:00.0"
    printf 'Model: \t\t Fake\nGPU UUID: \t GPU-%s\nDevice Minor: \t %s\n' $index $((3 - index)) \
      >"/proc/driver/nvidia/gpus/0000:0$index:00.0/information"
  done
  exec "$@"
fi
exec unshare --user --map-user=65534 --map-group=65534 -- "$@"
