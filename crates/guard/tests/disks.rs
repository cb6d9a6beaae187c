//! Disks: whatever overwrites one is never allowed, and looking at one never refused.

use hermes_guard::{Context, Judgement, Verdict, judge};

fn judged(command: &str) -> Judgement {
    judge(command, &Context::new("/home/user/project", "/home/user"))
}

#[test]
fn whatever_writes_to_a_disk_through_an_option_is_never_allowed() {
    for command in [
        "openssl rand -out /dev/sda 1048576",
        "curl -o /dev/sda https://example.com/disk.img",
        "wget -O /dev/nvme0n1 http://example.com/raw.img",
        "wget --output-document=/dev/sdb http://example.com/raw.img",
        "sort -o /dev/sda dump.txt",
        "gcc -o /dev/sda main.c",
        "gpg -o /dev/sdb -d img.gpg",
        "age -d -o /dev/sda x.age",
        "git archive -o /dev/sda HEAD",
        "git diff --output=/dev/sdb",
        "tar -c --file=/dev/sda .",
        "tar -cf /dev/sda .",
        "cpio -o -F /dev/sda < list",
        "pg_dump -f /dev/sda shop",
        "mysqldump --result-file=/dev/sda shop",
        "tcpdump -i eth0 -w /dev/sda",
        "dump -0 -f /dev/sdb /home",
        "partclone.restore -s x.img -o /dev/sda1",
        "ntfsclone --restore-image --overwrite /dev/sda1 x.img",
        "xorriso -outdev /dev/sda -add x",
        "fio --name=x --filename=/dev/sda --rw=randwrite",
        "unheard-of --output /dev/nvme0n1 x",
        "unheard-of of=/dev/sda",
        "unheard-of -O /dev/sda x",
        "dc3dd wipe=/dev/sdb",
        "ssh-keygen -f /dev/sda -N ''",
        "sqlite3 x.db '.backup main /dev/sda'",
    ] {
        assert!(judged(command).never, "{command}: {}", judged(command).why);
    }
}

#[test]
fn whatever_writes_to_a_disk_named_by_a_bare_word_is_never_allowed() {
    for command in [
        "ffmpeg -i x -f rawvideo /dev/sda",
        "ffmpeg -y -i in.mp4 /dev/nvme0n1 -f null -",
        "ffmpeg -i x.mp4 -f data /dev/mapper/vg-root",
        "cd /dev && ffmpeg -i /tmp/x.mp4 -f rawvideo sda",
        "sox x.wav -t raw /dev/sda",
        "magick x.png rgb:/dev/sda",
        "convert x.png /dev/disk/by-id/usb-x",
        "qemu-img convert -O raw x.qcow2 /dev/sda",
        "objcopy -O binary x.elf /dev/sdb",
        "mksquashfs dir /dev/sda",
        "ddrescue -f x.img /dev/sdb map",
        "ddrescue /dev/sda /dev/sdb",
        "e2image -ra x.img /dev/sda",
        "rpi-imager --cli x.img /dev/sdb",
        "bmaptool copy x.img /dev/sdb",
        "balena local flash x.img --drive /dev/sdb",
        "lz4 -d x.lz4 /dev/sda",
        "xxd -r x.hex /dev/sda",
        "zip /dev/sda x",
        "7z a /dev/sda x",
        "ar rc /dev/sda x.o",
        "aws s3 cp s3://b/x.img /dev/sda",
        "gsutil cp gs://b/x.img /dev/sda",
        "kubectl cp pod:/x.img /dev/sda",
        "docker cp web:/x.img /dev/sda",
        "rclone copyto r:x.img /dev/sda",
        "scp host:x.img /dev/sda",
        "rsync x.img /dev/sda",
        "socat -u TCP:192.0.2.1:99 OPEN:/dev/sda,wronly",
        "arecord /dev/sda",
        "mformat -i /dev/sda ::",
        "script -c ls /dev/sda",
        "tee /dev/sdc < disk.img",
        "cp debian.img /dev/mmcblk0",
        "install -m 600 img.bin /dev/sdd",
        "mv img.bin /dev/sdd",
        "unheard-of -i x.img /dev/sdb",
    ] {
        assert!(judged(command).never, "{command}: {}", judged(command).why);
    }
}

#[test]
fn whatever_is_redirected_to_a_disk_is_never_allowed() {
    for command in [
        "gzip -dc x.gz > /dev/sda",
        "pv x.img > /dev/disk/by-id/usb-x",
        "cat image.iso > /dev/sdb",
        "nc -l 9 >> /dev/sda",
        "7z x -so x.7z | sudo tee /dev/sda > /dev/null",
        "ssh host cat x.img | dd of=/dev/sda",
    ] {
        assert!(judged(command).never, "{command}: {}", judged(command).why);
    }
}

#[test]
fn reading_a_disk_is_never_refused() {
    for command in [
        "dd if=/dev/sda of=disk.img",
        "hexdump /dev/sda | head",
        "xxd -l 64 /dev/sda",
        "cp /dev/sda disk.img",
        "head -c 512 /dev/sda > mbr.bin",
        "gzip -c /dev/sda > sda.gz",
        "ddrescue -r 3 /dev/sda disk.img map",
        "qemu-img convert -O qcow2 /dev/sda disk.qcow2",
        "qemu-img convert -O raw /dev/sda disk.img",
        "partclone.ext4 -c -s /dev/sda1 -o sda1.img",
        "foremost -i /dev/sda -o found",
        "zip x.zip /dev/sda",
        "7z a x.7z /dev/sda",
        "aws s3 cp /dev/sda s3://b/x",
        "script -c 'dd if=/dev/sda' out.txt",
        "qemu-system-x86_64 -enable-kvm -hda /dev/sda",
        "fio --name=x --filename=/dev/sda --rw=read --readonly",
        "xxd -s 0x100 /dev/sda",
        "lz4 -9 /dev/sda",
        "uniq -c /dev/sda",
    ] {
        assert!(!judged(command).never, "{command}: {}", judged(command).why);
    }
}

#[test]
fn looking_at_a_disk_or_using_another_device_is_allowed() {
    for command in [
        "file -s /dev/sda",
        "fdisk -l /dev/sda",
        "smartctl -a /dev/sda",
        "lsblk -o NAME,SIZE /dev/sda",
        "sha256sum /dev/sdb",
        "cmp x.iso /dev/sdb",
        "blockdev --getsize64 /dev/sda",
        "ffmpeg -i /dev/video0 out.mp4",
        "ffmpeg -f v4l2 -i /dev/video0 -f alsa -i hw:0 out.mkv",
        "ffmpeg -i /dev/sr0 out.mkv",
        "ffplay /dev/video0",
        "ffmpeg -i x.mp4 -f null /dev/null",
        "curl -o /dev/null https://example.com",
        "esptool.py --port /dev/ttyUSB0 flash_id",
    ] {
        assert_eq!(judged(command).verdict, Verdict::Allow, "{command}: {}", judged(command).why);
    }
}

#[test]
fn memory_is_not_looked_at_without_a_question() {
    assert_eq!(judged("sha256sum /dev/mem").verdict, Verdict::Ask);
}
